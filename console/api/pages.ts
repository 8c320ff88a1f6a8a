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

/**
 * Returns the `refetchInterval` of a list. All loaded pages are fetched again, so more pages mean a longer interval.
 */
export function refreshPages({ state }: { state: { data: { pages: unknown[] } | undefined } }): number {
  return REFRESH_MS * (state.data?.pages.length ?? 1);
}

/** The options of a list that is paged by `before`. */
export const PAGES_BEFORE = { ...PAGES, pageParamName: 'before' } as const;
