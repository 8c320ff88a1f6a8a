// Writes large outputs into the object store: first a row, then the object, so that upkeep finds what a crash has left; the
// record of the block links the row (block-runs.ts).
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { hashOf } from '../../object-store/hash-of.ts';
import { ObjectStoreUnavailable, type StoredObject } from '../../object-store/object-store.ts';
import type { Db } from '../connect.ts';
import { keyOf } from './stored-outputs.ts';

/** The SQLSTATE of link_output. */
const BEING_DELETED = 'WE001';

type Execution = { callId: string; blockKey: string };

/**
 * Writes the output of a block into the object store when it is large. Undefined when it belongs into the database: it is
 * small, there is no store, or the store is away, since a run should not wait for that.
 */
export async function storeOutput(
  db: Db,
  organizationId: string,
  { callId, blockKey }: Execution,
  output: string | Buffer | undefined,
): Promise<StoredObject | undefined> {
  const { objects } = db;
  if (!objects || output === undefined || output.length < objects.minBytes / 4) return undefined;
  const length = Buffer.byteLength(output);
  if (length < objects.minBytes) return undefined;
  const bytes = (Buffer.isBuffer(output) ? output : Buffer.from(output)) as Buffer<ArrayBuffer>;
  const sha256 = await hashOf(bytes);
  // The block's key may have any length and characters: the object's has neither.
  const name = `${createHash('sha256').update(blockKey).digest('hex').slice(0, 32)}-${sha256}`;
  const location = objects.locate(keyOf(organizationId, callId, name));
  const row = { execution_id: callId, block_key: blockKey, location, bytes: length, sha256 };
  const object = await db
    .insertInto('stored_object')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['execution_id', 'block_key', 'sha256'])
        .doUpdateSet({ created_at: sql`now()` })
        .where('stored_object.linked', '=', false)
        .where('stored_object.doomed_at', 'is', null),
    )
    .returning(['location', 'bytes', 'sha256'])
    .executeTakeFirst();
  // The same output was recorded already, or is being deleted.
  if (!object) return undefined;
  try {
    await objects.put(organizationId, object, bytes);
  } catch (error) {
    if (error instanceof ObjectStoreUnavailable) return undefined;
    throw error;
  }
  return object;
}

/** Whether a record was refused because upkeep is deleting its object: its writer took so long that it was taken for dead. */
export function isBeingDeleted(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === BEING_DELETED;
}
