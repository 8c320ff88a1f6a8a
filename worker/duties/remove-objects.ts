import type { Db } from '../../db/connect.ts';
import {
  doomObjectsWithoutRun,
  doomUnlinkedObjects,
  removeDoomedObjects,
} from '../../db/upkeep/stored-objects.ts';
import type { Duty } from './repeat-duty.ts';

/** Creates the work of deleting objects that nobody can read any more: each time, some of them. */
export function removeObjects(db: Db): Duty['perform'] {
  let place: Awaited<ReturnType<typeof doomObjectsWithoutRun>>;
  return async () => {
    await doomUnlinkedObjects(db);
    place = await doomObjectsWithoutRun(db, place);
    return (await removeDoomedObjects(db)) > 0;
  };
}
