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

/** The options of a list whose next page is asked for by `before`. */
export const PAGES_BEFORE = { ...PAGES, pageParamName: 'before' } as const;
