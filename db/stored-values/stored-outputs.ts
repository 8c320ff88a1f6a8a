// Outputs of blocks: in the column `output` or, when that is null, in the object of a linked row of stored_object.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { ObjectLost, type StoredObject } from '../../platform/object-store/object-store.ts';
import { log } from '../../platform/observability/log.ts';
import type { Db } from '../connect.ts';
import { outputNotFound } from './run-not-found.ts';
import { readObject } from './store-object.ts';

const OF_BLOCK = sql`stored_object.execution_id = block_run.execution_id
  and stored_object.block_key = block_run.block_key and stored_object.linked`;

/** The size of a block's output as JSON, wherever it is; null without one. For queries that select from block_run. */
export const outputBytes = sql<number | null>`coalesce(
  octet_length(block_run.output::text), (select stored_object.bytes from stored_object where ${OF_BLOCK}))`;

/** The object with a block's output; null when the row has it or there is none. For queries as above. */
export const outputObject = sql<StoredObject | null>`case when block_run.output is null then (
  select json_build_object('location', location, 'bytes', bytes, 'sha256', sha256) from stored_object where ${OF_BLOCK}) end`;

/**
 * Reads an output from the object store, as JSON text. Throws ObjectStoreUnavailable, or INTERNAL_ERROR when it is
 * lost.
 */
export async function readStoredOutput(
  db: Db,
  callId: string,
  blockKey: string,
  object: StoredObject,
): Promise<string> {
  try {
    return await readObject(db, object);
  } catch (error) {
    if (!(error instanceof ObjectLost)) throw error;
    // Its run may have been deleted just now.
    if (!(await isLinked(db, callId, blockKey))) throw outputNotFound(callId, blockKey);
    const fields = { execution_id: callId, block: blockKey, location: object.location };
    log.error({ ...fields, err: error }, 'A stored output is lost.');
    throw new ServiceError(
      'INTERNAL_ERROR',
      `The stored output of ${blockKey} is lost (reference ${callId}/${blockKey}).`,
    );
  }
}

async function isLinked(db: Db, callId: string, blockKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('stored_object')
    .select('location')
    .where('execution_id', '=', callId)
    .where('block_key', '=', blockKey)
    .where('linked', '=', true)
    .executeTakeFirst();
  return row !== undefined;
}
