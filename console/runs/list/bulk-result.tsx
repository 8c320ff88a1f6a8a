import { formatCount } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import type { Bulk, BulkResult } from './bulk-runs.ts';

const REASONS_MAX = 8;

/** Says how many runs were retried or cancelled, and for which reasons others were not. */
export function BulkResultView({
  how,
  result,
  isRunning,
}: {
  how: Bulk;
  result: BulkResult | undefined;
  isRunning: boolean;
}) {
  const { done = 0, refused = [], stoppedBy } = result ?? {};
  const reasons = new Map<string, number>();
  for (const { errorMessage } of refused) reasons.set(errorMessage, (reasons.get(errorMessage) ?? 0) + 1);
  const listed = [...reasons].sort((a, b) => b[1] - a[1]);
  const said =
    how === 'retry'
      ? `${formatCount(done)} retried, ${formatCount(refused.length)} passed over`
      : `${formatCount(done)} ${done === 1 ? 'run is' : 'runs are'} being cancelled`;
  return (
    <div role="status">
      <p>
        {said}
        {isRunning ? ' so far …' : '.'}
      </p>
      <ul>
        {listed.slice(0, REASONS_MAX).map(([reason, count]) => (
          <li key={reason}>
            {formatCount(count)} × {reason}
          </li>
        ))}
        {listed.length > REASONS_MAX && <li>and {listed.length - REASONS_MAX} other reasons</li>}
      </ul>
      {stoppedBy && (
        <Note tone="warn">
          It stopped because no further run would have been accepted: {stoppedBy}. Put that right and do it
          again; nothing is retried twice.
        </Note>
      )}
    </div>
  );
}
