import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';
import { inputBytes } from './stored-inputs.ts';

/** Inputs that one statement searches. */
const CALLS_AT_ONCE = 10;
/** No further inputs are searched after this many bytes of JSON: some ten of the largest. */
const LOOKED_THROUGH_BYTES = 128 * 1024 * 1024;
/** Minimum size charged per input, so that at most 2,000 are searched. */
const INPUT_MIN_BYTES = 64 * 1024;

/** A key with an escape becomes a key that matches no step. */
const READABLE = readableJson('run.input');

/**
 * Finds for which of these steps callers sent outputs with their calls (`brought`), without loading the inputs.
 * Searches the calls in order, and leaves out calls after the first 128 MiB of inputs. `brought` is null when the
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

/**
 * Returns a column of type json for PostgreSQL's JSON functions and operators. They fail on values with U+0000 or a
 * lone surrogate, which may come from callers, models and code, so escapes are replaced by other text.
 */
export function readableJson(column: string): RawBuilder<unknown> {
  return sql`replace(replace(${sql.ref(column)}::text, ${sql.lit('\\\\')}, '--'), ${sql.lit('\\u')}, ' ')::json`;
}
