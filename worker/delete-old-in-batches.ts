import type { Db } from '../db/connect.ts';
import { deleteOld } from '../db/upkeep/delete-old.ts';

/** A transaction of about this length holds nobody up. */
const TARGET_MS = 300;
const FIRST = 50;
const MAX = 500;

/**
 * Makes a function that deletes what is older than `days`, part by part, and answers whether more is left. A run may
 * hang together with one row or with thousands, so how much a part has follows from how long the last one took.
 */
export function deleteOldInBatches(db: Db, days: number): () => Promise<boolean> {
  let limit = FIRST;
  return async () => {
    const tried = limit;
    const began = performance.now();
    // Until it is known to be done in time.
    limit = Math.max(1, Math.floor(tried / 2));
    const deleted = await deleteOld(db, days, tried);
    const tookMs = performance.now() - began;
    if (tookMs < TARGET_MS) limit = tried;
    if (tookMs < TARGET_MS / 3) limit = Math.min(MAX, tried * 2);
    return Math.max(...Object.values(deleted)) === tried;
  };
}
