import type { Place } from '../draft/steps.ts';

/** Names a place, the same for the same place. */
export function placeName({ parent, branch, index }: Place): string {
  return JSON.stringify([parent, branch, index]);
}
