import { Button } from './button.tsx';
import style from './page.module.css';

type Paged = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };

/** Fetches the next page of a list, below it; nothing when all is there. */
export function MoreButton({ query }: { query: Paged }) {
  if (!query.hasNextPage) return null;
  return (
    <div className={style.more}>
      <Button isPending={query.isFetchingNextPage} onPress={() => query.fetchNextPage()}>
        {query.isFetchingNextPage ? 'Loading …' : 'Show more'}
      </Button>
    </div>
  );
}
