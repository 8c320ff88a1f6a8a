import { formatCount } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import type { Bulk, BulkResult } from './bulk-runs.ts';
import { countReasons } from './count-reasons.ts';

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
  const reasons = countReasons(refused);
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
        {reasons.map(([reason, count]) => (
          <li key={reason}>
            {formatCount(count)} × {reason}
          </li>
        ))}
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
