import type { Db } from '../../db/connect.ts';
import { deleteOld } from '../../db/upkeep/delete-old.ts';
import { inBatches } from './in-batches.ts';

/** A transaction of about this length delays nobody noticeably. */
const TARGET_MS = 300;
const FIRST = 50;
const MAX = 500;

/**
 * Creates a function that deletes what is older than `days`. A run may have one row or thousands, so the size of a batch depends
 * on how long the last one took, also in the attempt before.
 */
export function createRunDeletion(db: Db, days: number): (signal: AbortSignal) => Promise<void> {
  let limit = FIRST;
  return (signal) =>
    inBatches(signal, async () => {
      const tried = limit;
      const began = performance.now();
      // In case this batch fails or takes too long.
      limit = Math.max(1, Math.floor(tried / 2));
      const deleted = await deleteOld(db, days, tried);
      const tookMs = performance.now() - began;
      if (tookMs < TARGET_MS) limit = tried;
      if (tookMs < TARGET_MS / 3) limit = Math.min(MAX, tried * 2);
      return Math.max(...Object.values(deleted)) === tried;
    });
}
