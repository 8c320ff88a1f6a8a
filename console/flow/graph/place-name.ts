import type { Place } from '../draft/steps.ts';

/** Returns a key for a place. */
export function placeName({ parent, branch, index }: Place): string {
  return JSON.stringify([parent, branch, index]);
}
