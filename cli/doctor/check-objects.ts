import type { Config } from '../../platform/config/config.ts';
import { openObjectStore } from '../../platform/object-store/open-object-store.ts';
import { failure, ok, type Result } from './finding.ts';

const ANSWER_MAX_MS = 5_000;

/** Looks whether the object store has the bucket and takes the credentials. Writes nothing. */
export async function checkObjects({ objectStore }: Pick<Config, 'objectStore'>): Promise<Result[]> {
  const store = await openObjectStore(objectStore);
  if (!store || !objectStore) return [ok('Large requests and outputs are kept in PostgreSQL.')];
  try {
    const { bucket, endpoint = `AWS in ${objectStore.region}` } = objectStore;
    const problem = await store.findProblem(ANSWER_MAX_MS);
    if (problem === undefined) return [ok(`The object store has the bucket ${bucket}.`)];
    return [
      failure(
        `The object store ${problem} (bucket ${bucket}, ${endpoint}).`,
        'Correct WEIR_OBJECT_STORE, WEIR_OBJECT_STORE_ENDPOINT, AWS_REGION or the credentials, or start the store.',
      ),
    ];
  } finally {
    store.close();
  }
}
