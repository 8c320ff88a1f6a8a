/** A duty rests this many times as long as it took, which leaves time for others. */
const TIMES = 15;
/** Whatever was lost is found within about a minute. */
const MAX_MS = 60_000;

/** Returns how long a duty rests after it took `tookMs`: as long again if there is `more` to do, else at least `everyMs`. */
export function dutyInterval(tookMs: number, more: boolean, everyMs: number): number {
  return more ? Math.min(tookMs, MAX_MS) : Math.max(everyMs, Math.min(tookMs * TIMES, MAX_MS));
}
