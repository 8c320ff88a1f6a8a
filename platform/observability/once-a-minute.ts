const QUIET_MS = 60_000;

/**
 * Creates the pace of a line that would be logged again and again. It says before each whether to log it: with how many were
 * suppressed since the last one, or undefined for one within a minute of that. `now` is in milliseconds.
 */
export function createOnceAMinute(now: () => number = () => performance.now()): () => number | undefined {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let left = 0;
  return function countSuppressed() {
    if (now() < quietUntil) {
      left += 1;
      return undefined;
    }
    const suppressed = left;
    quietUntil = now() + QUIET_MS;
    left = 0;
    return suppressed;
  };
}
