import { formatCount } from '../../ui/format.ts';
import type { Bulk, BulkResult } from './bulk-runs.ts';
import { countReasons } from './count-reasons.ts';

/** Describes how many runs were retried or cancelled. */
export function describeCounts(how: Bulk, { done, refused }: BulkResult): string {
  return how === 'retry'
    ? `${formatCount(done)} retried, ${formatCount(refused.length)} skipped`
    : `${formatCount(done)} ${done === 1 ? 'run is' : 'runs are'} being cancelled`;
}

/** Shows how many runs were retried or cancelled, and why others were not. */
export function BulkResultView({
  how,
  result,
  isRunning,
}: {
  how: Bulk;
  result: BulkResult;
  isRunning: boolean;
}) {
  const reasons = countReasons(result.refused);
  return (
    <div role="status">
      <p>
        {describeCounts(how, result)}
        {isRunning ? ' so far …' : '.'}
      </p>
      <ul>
        {reasons.map(([reason, count]) => (
          <li key={reason}>
            {formatCount(count)} × {reason}
          </li>
        ))}
      </ul>
    </div>
  );
}
