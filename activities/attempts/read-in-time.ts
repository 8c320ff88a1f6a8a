import type { Db } from '../../db/connect.ts';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import { NoRoom } from './reserve-memory.ts';
import type { Attempt } from './run-attempt.ts';

/** How long an attempt that holds up its workflow task waits for what it reads. A silent store fails after ten times that. */
const READING_MAX_MS = 1_000;

/**
 * Waits for what an attempt reads. One that may not wait throws NoRoom where the object store is away, or slow: other runs need
 * its workflow task.
 */
export async function readInTime<T>(
  { objects }: Pick<Db, 'objects'>,
  { mayWait }: Pick<Attempt, 'mayWait'>,
  reading: Promise<T>,
): Promise<T> {
  if (mayWait || !objects) return reading;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new NoRoom(0, reading)), READING_MAX_MS);
  try {
    return await Promise.race([reading, late.promise]);
  } catch (error) {
    throw error instanceof ObjectStoreUnavailable ? new NoRoom() : error;
  } finally {
    clearTimeout(timer);
  }
}
