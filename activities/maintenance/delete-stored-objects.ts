import type { Db } from '../../db/connect.ts';
import {
  doomObjectsWithoutRun,
  doomUnlinkedObjects,
  removeDoomedObjects,
} from '../../db/upkeep/stored-objects.ts';
import { inBatches } from './in-batches.ts';

/** Pages of rows whose runs are looked for each time: a walk over all rows of a large table takes several times. */
const PAGES_MAX = 40;

/** Creates a function that deletes objects that nobody can read any more. */
export function createObjectDeletion(db: Db): (signal: AbortSignal) => Promise<void> {
  let place: Awaited<ReturnType<typeof doomObjectsWithoutRun>>;
  return async (signal) => {
    await inBatches(signal, () => doomUnlinkedObjects(db));
    let pages = 0;
    await inBatches(signal, async () => {
      place = await doomObjectsWithoutRun(db, place);
      pages += 1;
      return place !== undefined && pages < PAGES_MAX;
    });
    await inBatches(signal, async () => (await removeDoomedObjects(db)) > 0);
  };
}
