import type { Db } from '../../db/connect.ts';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import { NoRoom } from './no-room.ts';
import type { Attempt } from './run-attempt.ts';

/** How long a local attempt waits for what it reads: longer with each attempt, since a store may be slow. */
const READING_MAX_MS = 1_000;

/**
 * Waits for what an attempt reads. One that may not wait throws NoRoom where the object store is away, or slow: other runs need
 * its workflow task.
 */
export async function readInTime<T>(
  { objects }: Pick<Db, 'objects'>,
  { mayWait, begun }: Pick<Attempt, 'mayWait' | 'begun'>,
  reading: Promise<T>,
): Promise<T> {
  if (mayWait || !objects) return reading;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new NoRoom(0, reading)), READING_MAX_MS * begun);
  try {
    return await Promise.race([reading, late.promise]);
  } catch (error) {
    throw error instanceof ObjectStoreUnavailable ? new NoRoom() : error;
  } finally {
    clearTimeout(timer);
  }
}
