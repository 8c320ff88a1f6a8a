import type { Place } from '../draft/steps.ts';
import type { Gap, Point } from './layout.ts';

/** The distance in pixels from every place beyond which a drop does nothing. */
const DROP_DISTANCE_MAX = 140;

/** Finds the place nearest to the pointer, except places inside the dragged steps and beside their current position. */
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
