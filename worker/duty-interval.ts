/** So many times as long as a look took is the rest after it: however much there is to see, others have the time. */
const TIMES = 15;
/** What is lost is found within about a minute. */
const MAX_MS = 60_000;

/** How long a duty rests after a look that took so long: while there is `more` to do as long, else at least `everyMs`. */
export function dutyInterval(tookMs: number, more: boolean, everyMs: number): number {
  return more ? Math.min(tookMs, MAX_MS) : Math.max(everyMs, Math.min(tookMs * TIMES, MAX_MS));
}
