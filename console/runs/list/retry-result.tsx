import { formatCount } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import type { RetryResult } from './retry-failed.ts';

const REASONS_MAX = 8;

/** Says how many runs were retried, and for which reasons others were not. */
export function RetryResultView({
  result,
  isRunning,
}: {
  result: RetryResult | undefined;
  isRunning: boolean;
}) {
  const reasons = new Map<string, number>();
  for (const { errorMessage } of result?.refused ?? [])
    reasons.set(errorMessage, (reasons.get(errorMessage) ?? 0) + 1);
  const listed = [...reasons].sort((a, b) => b[1] - a[1]);
  return (
    <div role="status">
      <p>
        {formatCount(result?.retried.length ?? 0)} retried, {formatCount(result?.refused.length ?? 0)} passed
        over
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
      {result?.stoppedBy && (
        <Note tone="warn">
          It stopped because no further run would have been accepted: {result.stoppedBy}. Put that right and
          do it again; nothing is retried twice.
        </Note>
      )}
    </div>
  );
}
