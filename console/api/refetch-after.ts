import { QueryCache } from '@tanstack/react-query';
import { isOutage } from './api-error.ts';

const AGAIN_MS = 10_000;
const AGAIN_MAX_MS = 60_000;

/** How many times a query had failed when it was last answered. */
const failedBefore = new WeakMap<object, number>();

/** Counts anew from each answer; the client that `refetchAfter` serves is made with it. */
export const queryCache = new QueryCache({
  onSuccess: (_data, query) => failedBefore.set(query, query.state.errorUpdateCount),
});

type Query = { state: { data: unknown; error: unknown; errorUpdateCount: number } };

/**
 * The `refetchInterval` of a query: `pollMs`, but what is shown and met an outage is asked for until it comes, less often
 * each time. One that timed out as well: a service that hangs gives no other sign.
 */
export function refetchAfter(query: Query, pollMs: number | false = false): number | false {
  const { data, error, errorUpdateCount } = query.state;
  if (data === undefined || !isOutage(error)) return pollMs;
  const failures = errorUpdateCount - (failedBefore.get(query) ?? 0);
  return Math.min(AGAIN_MS * 2 ** (failures - 1), AGAIN_MAX_MS);
}
