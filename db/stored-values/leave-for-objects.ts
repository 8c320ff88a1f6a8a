import type { Leave } from '../../platform/limits/turn-to-leave.ts';
import type { Db } from '../connect.ts';

/** Makes the database of work that has a turn at large values: the turn is left while the object store is awaited. */
export function leaveForObjects(db: Db, leave: Leave): Db {
  const { objects } = db;
  if (!objects) return db;
  const get: typeof objects.get = (object) => leave(() => objects.get(object));
  return Object.assign(db.withoutPlugins(), { objects: { ...objects, get } });
}
