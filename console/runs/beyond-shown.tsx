import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { formatCount } from '../ui/format.ts';

/** How many block executions are shown, and how to load more. */
export type Beyond = { shown: number; isLoading: boolean; loadMore: () => void };

/** Says that a block execution is not among the loaded ones, and offers to load more. */
export function BeyondShown({ block, beyond }: { block: ReactNode; beyond: Beyond }) {
  return (
    <span>
      {block} is not among the first {formatCount(beyond.shown)} block executions.{' '}
      <Button size="small" isPending={beyond.isLoading} onPress={beyond.loadMore}>
        Show more
      </Button>
    </span>
  );
}
