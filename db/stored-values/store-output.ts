import { createHash } from 'node:crypto';
import pg from 'pg';
import type { StoredObject } from '../../platform/object-store/object-store.ts';
import type { Db } from '../connect.ts';
import type { BlockId } from './block-id.ts';
import { storeObject } from './store-object.ts';

/** The SQLSTATE of link_output. */
const BEING_DELETED = 'WE001';

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
