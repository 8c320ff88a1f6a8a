import type { ObjectStore, ObjectStoreOptions } from './object-store.ts';

/** Opens the object store where one is configured. Loads its client only then. */
export async function openObjectStore(
  options: ObjectStoreOptions | undefined,
): Promise<ObjectStore | undefined> {
  if (!options) return undefined;
  const { createS3Store } = await import('./s3-store.ts');
  return createS3Store(options);
}
