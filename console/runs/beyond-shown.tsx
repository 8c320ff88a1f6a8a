import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { formatCount } from '../ui/format.ts';

/** How many block executions are shown, and how to load more. */
export type MoreBlocks = { shown: number; isLoading: boolean; loadMore: () => void };

/** Says that a block execution is not among the loaded ones, and offers to load more. */
export function BlockNotLoaded({ block, more }: { block: ReactNode; more: MoreBlocks }) {
  return (
    <span>
      {block} is not among the first {formatCount(more.shown)} block executions.{' '}
      <Button size="small" isPending={more.isLoading} onPress={more.loadMore}>
        Show more
      </Button>
    </span>
  );
}
