// Outputs of blocks: in the column `output` or, when that is null, in the object of a linked row of stored_object.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { ServiceError } from '../../flow/errors.ts';
import { ObjectLost, type StoredObject } from '../../platform/object-store/object-store.ts';
import { log } from '../../platform/observability/log.ts';
import type { Db } from '../connect.ts';
import { outputNotFound } from './run-not-found.ts';
import { readObject, storeObject } from './store-object.ts';

/** The id of a block execution: a call of a run, and the key of the block in it. */
export type BlockId = { callId: string; blockKey: string };

/** The SQLSTATE of link_output. */
const BEING_DELETED = 'WE001';

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
    // The run may just be deleted.
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

/**
 * Writes the output of a block into the object store when it is large; undefined when it belongs into the database.
 */
export async function storeOutput(
  db: Db,
  organizationId: string,
  { callId, blockKey }: BlockId,
  output: string | Buffer | undefined,
): Promise<StoredObject | undefined> {
  if (!db.objects || output === undefined) return undefined;
  // A block's key may have any length and characters; an object's name may not.
  const name = createHash('sha256').update(blockKey).digest('hex').slice(0, 32);
  return storeObject(db, { organizationId, callId, blockKey, name }, output);
}

/** Whether a record was rejected because upkeep is deleting its object: the writer took too long. */
export function isBeingDeleted(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === BEING_DELETED;
}
