// Writes large values into the object store: first a row, then the object, so that upkeep finds leftovers of a crash.
// The record that uses the value links the row: a block its output (db/runs), a call its input
// (stored-inputs.ts).
import { sql } from 'kysely';
import {
  hashOf,
  type ObjectStore,
  ObjectStoreUnavailable,
  type StoredObject,
} from '../../platform/object-store/object-store.ts';
import { valuesKept } from '../../platform/observability/metrics/run-metrics.ts';
import type { Db } from '../connect.ts';

/** The owner of a value: its columns in stored_object, and `name`, the beginning of the object's name. */
type Owner = { organizationId: string; callId: string; blockKey: string; name: string };

/**
 * Writes large JSON into the object store. Undefined when it belongs into the database: it is small, or there is no
 * store, or the store is down, because a run should not wait for that. Does not write a linked object again.
 */
export async function storeObject(
  db: Db,
  { organizationId, callId, blockKey, name }: Owner,
  json: string | Buffer,
): Promise<StoredObject | undefined> {
  const { objects } = db;
  if (!objects || json.length < objects.minBytes / 4) return undefined;
  const length = Buffer.byteLength(json);
  if (length < objects.minBytes) return undefined;
  const bytes = (Buffer.isBuffer(json) ? json : Buffer.from(json)) as Buffer<ArrayBuffer>;
  const sha256 = await hashOf(bytes);
  const location = objects.locate(`${organizationId}/${callId}/${name}-${sha256}`);
  const found = await db
    .insertInto('stored_object')
    .values({ execution_id: callId, block_key: blockKey, location, bytes: length, sha256 })
    .onConflict((conflict) =>
      conflict
        .columns(['execution_id', 'block_key', 'sha256'])
        .doUpdateSet({ created_at: sql`now()` })
        .where('stored_object.doomed_at', 'is', null),
    )
    .returning(['location', 'bytes', 'sha256', 'linked'])
    .executeTakeFirst();
  // It is being deleted.
  if (!found) return undefined;
  const { linked, ...object } = found;
  if (linked) return object;
  try {
    await objects.put(object, bytes);
  } catch (error) {
    if (!(error instanceof ObjectStoreUnavailable)) throw error;
    valuesKept.add(1);
    return undefined;
  }
  return object;
}

/** Reads an object written by `storeObject`. Throws ObjectStoreUnavailable, and ObjectLost. */
export async function readObject(db: Db, object: StoredObject): Promise<string> {
  return (await objectStoreOf(db).get(object)).toString();
}

/** Returns the object store. Throws ObjectStoreUnavailable when this process has none. */
export function objectStoreOf({ objects }: Db): ObjectStore {
  if (objects) return objects;
  throw new ObjectStoreUnavailable(
    'A value is in an object store, and WEIR_OBJECT_STORE is not set for this process.',
  );
}
