import type { Presence } from './presence.ts';

/** While others are present, a rest is three times as long as the work took, but at most this much longer than the work. */
const REST_MORE_MAX_MS = 250;

/** Returns how long to rest after `owner`'s work on a large value that took `ms`. */
export function restAfter(ms: number, owner: string, presence: Presence): number {
  return presence.areOthers(owner) ? ms + Math.min(2 * ms, REST_MORE_MAX_MS) : ms;
}
