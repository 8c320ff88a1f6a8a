import type { Db } from '../../db/connect.ts';
import type { Leave } from '../../fairness/turn-to-leave.ts';

/** Makes the database of a request that has a turn at large work: the turn is left while the object store is awaited. */
export function leaveForObjects(db: Db, leave: Leave): Db {
  const { objects } = db;
  if (!objects) return db;
  const get: typeof objects.get = (owner, object) => leave(() => objects.get(owner, object));
  return Object.assign(db.withoutPlugins(), { objects: { ...objects, get } });
}
