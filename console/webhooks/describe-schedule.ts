/** The delay before each of the six attempts, after the previous failure. */
const DELAYS = ['at once', '1 minute', '5 minutes', '30 minutes', '2 hours', '12 hours'];

/** Describes the remaining attempts if the next one fails; undefined when there are none. */
export function describeSchedule({
  status,
  attempt,
}: {
  status: string;
  attempt: number;
}): string | undefined {
  if (status === 'dead_letter')
    return 'All six attempts have failed: it is a dead letter now. Fix the receiver, then send it again.';
  if (status === 'failed_permanent') return 'It is not retried. Fix the receiver, then send it again.';
  if (status !== 'failed_retry') return undefined;
  // Attempt n has failed; attempt n + 1 is the next one.
  const later = DELAYS.slice(attempt + 1);
  if (later.length === 0) return 'The next attempt is the last one.';
  if (later.length === 1) return `If the next attempt fails, the last one follows after ${later[0]}.`;
  return `If the next attempt fails, ${later.length} more follow, each some time after the failure before it: ${later.join(', ')}.`;
}
