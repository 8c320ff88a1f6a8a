// Lists that are fetched page by page: `$api.useInfiniteQuery('get', path, init, PAGES)`, shown with `MoreButton`.
// Their `init` names a `limit`, so that they do not share what a plain query of the same path has fetched.
type Page = { nextCursor: string | null };

/** The options of a list whose next page is asked for by `cursor`. */
export const PAGES = {
  pageParamName: 'cursor',
  // Not undefined: the library would send `cursor=0`.
  initialPageParam: null,
  getNextPageParam: (last: Page) => last.nextCursor,
} as const;

const REFRESH_MS = 5_000;

/** The `refetchInterval` of a list. All of its pages are fetched again: one of more pages is less often. */
export function refreshPages({ state }: { state: { data: { pages: unknown[] } | undefined } }): number {
  return REFRESH_MS * (state.data?.pages.length ?? 1);
}

/** The options of a list whose next page is asked for by `before`. */
export const PAGES_BEFORE = { ...PAGES, pageParamName: 'before' } as const;
