import { type ObjectStore, ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import type { Db } from '../connect.ts';

/** Returns the object store. Throws ObjectStoreUnavailable when this process has none. */
export function objectStoreOf({ objects }: Db): ObjectStore {
  if (objects) return objects;
  throw new ObjectStoreUnavailable(
    'A value is in an object store, and WEIR_OBJECT_STORE is not set for this process.',
  );
}
