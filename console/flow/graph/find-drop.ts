import type { Place } from '../draft/steps.ts';
import type { Gap, Point } from './layout.ts';

/** Farther from every place, a step is not dropped. */
const DROP_DISTANCE_MAX = 140;

/** Finds the place nearest to the pointer that is not inside the dragged steps, nor where they are already. */
export function findDrop(
  gaps: Gap[],
  pointer: Point,
  dragged: ReadonlySet<string>,
  own: Place | undefined,
): Gap | undefined {
  let best: Gap | undefined;
  let least = DROP_DISTANCE_MAX;
  for (const gap of gaps) {
    if (dragged.has(gap.place.parent ?? '') || isBeside(gap.place, own)) continue;
    const far = Math.hypot((gap.x - pointer.x) / 2, gap.y - pointer.y);
    if (far < least) [best, least] = [gap, far];
  }
  return best;
}

function isBeside(place: Place, own: Place | undefined): boolean {
  return (
    own !== undefined &&
    place.parent === own.parent &&
    place.branch === own.branch &&
    (place.index === own.index || place.index === own.index + 1)
  );
}
