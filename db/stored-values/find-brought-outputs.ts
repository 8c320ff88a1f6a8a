import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { readableJson } from './readable-json.ts';
import { inputBytes } from './stored-inputs.ts';

/** Inputs that are looked through in one statement. */
const CALLS_AT_ONCE = 10;
/** No further inputs are looked through after so many bytes of JSON: some ten of the largest. */
const LOOKED_THROUGH_BYTES = 128 * 1024 * 1024;
/** A smaller input counts as this much: 2,000 of them are looked through. */
const INPUT_MIN_BYTES = 64 * 1024;

/** A key with an escape becomes one that no step has. */
const READABLE = readableJson('run.input');

/**
 * Tells of which of these steps the callers of calls brought outputs (`brought`), without reading their inputs into this process.
 * Goes through the calls in their order, and leaves out those after the first 128 MiB of inputs. `brought` is null where the
 * input is in the object store; `bytes` is its size.
 */
export async function findBroughtOutputs(
  db: Db,
  callIds: string[],
  stepIds: string[],
): Promise<Map<string, { bytes: number; brought: string[] | null }>> {
  const found = new Map<string, { bytes: number; brought: string[] | null }>();
  let lookedThrough = 0;
  for (let at = 0; at < callIds.length && lookedThrough < LOOKED_THROUGH_BYTES; at += CALLS_AT_ONCE) {
    const rows = await db
      .selectFrom('run')
      .select(['execution_id', inputBytes.as('bytes')])
      .select(
        sql<string[] | null>`case when run.input is not null then array(
          select step_id from json_object_keys(${READABLE} #> '{continuation,outputs}') as step_id
          where step_id = any(${stepIds}::text[])) end`.as('brought'),
      )
      .where('execution_id', '=', sql<string>`any(${callIds.slice(at, at + CALLS_AT_ONCE)}::uuid[])`)
      .execute();
    for (const { execution_id, bytes, brought } of rows) {
      lookedThrough += Math.max(bytes, INPUT_MIN_BYTES);
      found.set(execution_id, { bytes, brought });
    }
  }
  return found;
}
