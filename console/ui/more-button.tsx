import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import page from './page.module.css';
import { ReturnFocus } from './use-return-focus.ts';

type Paged = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  /** An ApiError, whatever the generated types say. */
  error: unknown;
  fetchNextPage: () => unknown;
};

/** Loads the next page of a list, and shows the error when that fails; nothing on the last page. */
export function MoreButton({ query }: { query: Paged }) {
  if (!query.hasNextPage) return null;
  return (
    <div className={page.more}>
      <ReturnFocus to="main" />
      {query.isFetchNextPageError && !query.isFetchingNextPage && <ErrorNote error={query.error as Error} />}
      <Button isPending={query.isFetchingNextPage} onPress={() => query.fetchNextPage()}>
        {query.isFetchingNextPage ? 'Loading …' : 'Show more'}
      </Button>
    </div>
  );
}
