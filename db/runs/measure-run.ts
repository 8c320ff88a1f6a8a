import type { RunOutcome } from '../../flow/run.ts';
import {
  runDuration,
  runFailures,
  timeToFirstBlock,
} from '../../platform/observability/metrics/run-metrics.ts';
import type { RunMode } from '../schema.ts';

/** Records how long a call has waited for its first block. */
export function measureBegin(mode: RunMode, startedAt: Date): void {
  timeToFirstBlock.record(secondsSince(startedAt), { mode });
}

/** Records the end or pause of a call as a metric. */
export function measureEnd(mode: RunMode, startedAt: Date, outcome: RunOutcome): void {
  const code = outcome.status === 'failed' ? outcome.error.code : undefined;
  const isCancelled = code === 'CANCELLED';
  runDuration.record(secondsSince(startedAt), { mode, outcome: isCancelled ? 'cancelled' : outcome.status });
  if (code && !isCancelled) runFailures.add(1, { mode, 'error.type': code });
}

/** The clocks of the machine and of the database may differ. */
function secondsSince(moment: Date): number {
  return Math.max(0, Date.now() - moment.getTime()) / 1_000;
}
