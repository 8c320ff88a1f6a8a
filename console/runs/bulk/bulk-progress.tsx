import { ProgressBar } from 'react-aria-components';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { formatCount } from '../../ui/format.ts';
import style from './bulk.module.css';
import { type BulkRetry, stateOf } from './bulk-retry.ts';

const OUTCOMES = ['completed', 'failed', 'refused', 'cancelled'] as const;
const WORDS = { starting: 'Not all started', stopped: 'Stopped', ended: 'Ended' };

export function BulkBadge({ bulk }: { bulk: BulkRetry }) {
  const state = stateOf(bulk);
  if (state === 'running' || state === 'cancelled') return <StatusBadge status={state} />;
  return <Badge tone={state === 'ended' ? 'idle' : 'warn'}>{WORDS[state]}</Badge>;
}

/** How many of the runs of a bulk retry have ended, with a part of the bar for each outcome. */
export function BulkProgress({ bulk }: { bulk: BulkRetry }) {
  const { outcomes, planned, running, refused, started } = bulk;
  const total = Math.max(1, planned);
  const parts = [
    ...OUTCOMES.map((outcome) => [outcome, outcomes[outcome]] as const),
    ['running', running] as const,
  ];
  const ended = started - running + refused;
  return (
    <ProgressBar
      className={style.progress ?? ''}
      aria-label="Progress"
      value={Math.min(ended, total)}
      maxValue={total}
      valueLabel={`${formatCount(ended)} of ${formatCount(planned)} runs have ended`}
    >
      {({ valueText }) => (
        <>
          <span>{valueText}</span>
          <span className={style.bar}>
            {parts.map(([part, runs]) => (
              <span key={part} data-part={part} style={{ width: `${(100 * runs) / total}%` }} />
            ))}
          </span>
        </>
      )}
    </ProgressBar>
  );
}

/** The numbers of runs by outcome; none for outcomes that no run has. */
export function BulkCounts({ bulk: { outcomes, running, refused } }: { bulk: BulkRetry }) {
  const counts = [['running', running] as const, ...OUTCOMES.map((each) => [each, outcomes[each]] as const)];
  return (
    <span className={style.counts}>
      {counts
        .filter(([, runs]) => runs > 0)
        .map(([status, runs]) => (
          <span key={status}>
            {formatCount(runs)} <StatusBadge status={status} />
          </span>
        ))}
      {refused > 0 && (
        <span>
          {formatCount(refused)} <Badge tone="warn">Not retried</Badge>
        </span>
      )}
    </span>
  );
}
