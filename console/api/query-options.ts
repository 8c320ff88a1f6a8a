// Options of queries: pages of lists, and when to fetch again.
import { QueryCache } from '@tanstack/react-query';
import { isOutage } from './api-error.ts';

// Lists are fetched page by page: `$api.useInfiniteQuery('get', path, init, PAGES)`, shown with `MoreButton`. Their
// `init` sets a `limit`, so that they do not share the cache entry of a plain query of the same path.
type Page = { nextCursor: string | null };

/** The options of a list that is paged by `cursor`. */
export const PAGES = {
  pageParamName: 'cursor',
  // Null, because for undefined the library would send `cursor=0`.
  initialPageParam: null,
  getNextPageParam: (last: Page) => last.nextCursor,
} as const;

const REFRESH_MS = 5_000;

/** The options of a list that is paged by `before`. */
export const PAGES_BEFORE = { ...PAGES, pageParamName: 'before' } as const;

const RETRY_MS = 10_000;
const RETRY_MAX_MS = 60_000;

/** The number of failures of a query when it last succeeded. */
const failedBefore = new WeakMap<object, number>();

/** The cache of the query client. Each success restarts the count of failures that `refetchAfter` uses. */
export const queryCache = new QueryCache({
  onSuccess: (_data, query) => failedBefore.set(query, query.state.errorUpdateCount),
});

type Query = { state: { data: unknown; error: unknown; errorUpdateCount: number } };

/**
 * Returns the `refetchInterval` of a query: `pollMs`, or a growing delay while data is shown and the last fetch met an
 * outage. Time-outs count too: a hanging service gives no other sign.
 */
export function refetchAfter(query: Query, pollMs: number | false = false): number | false {
  const { data, error, errorUpdateCount } = query.state;
  if (data === undefined || !isOutage(error)) return pollMs;
  const failures = errorUpdateCount - (failedBefore.get(query) ?? 0);
  return Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MAX_MS);
}

/**
 * Returns the `refetchInterval` of a list. All loaded pages are fetched again, so more pages mean a longer interval.
 */
export function refreshPages({ state }: { state: { data: { pages: unknown[] } | undefined } }): number {
  return REFRESH_MS * (state.data?.pages.length ?? 1);
}
