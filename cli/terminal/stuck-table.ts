import type { ListedRun } from '../api/get-run.ts';
import { formatTable, formatTime, oneLine } from './format-table.ts';

type Reason = NonNullable<ListedRun['stuck']>['reason'];

const MEND: { [reason in Reason]: string } = {
  parked: 'it lost its workers again and again; ask the operator of the service, or cancel it',
  cancelling: 'it was cancelled, and no worker has ended it; ask the operator of the service',
  retrying: 'a block is refused again and again: see the last error; it goes on by itself, or cancel it',
  losing_workers: 'workers are lost under a block; ask the operator of the service, or cancel it',
  waiting: 'no worker has begun its next block; they are busy, away or lost under it; it goes on by itself',
};
const ERROR_MAX_CHARS = 80;

/** Formats one row per run that makes no progress, and below what to do about each reason. */
export function stuckTable(runs: ListedRun[]): string {
  const reasons = new Set(runs.flatMap(({ stuck }) => stuck?.reason ?? []));
  return [
    formatTable(
      ['execution', 'flow', 'reason', 'since', 'next attempt', 'last error'],
      runs.map(({ executionId, organization, project, flow, stuck }) => [
        executionId,
        `${organization}/${project}/${flow}`,
        stuck?.reason,
        stuck && formatTime(stuck.since),
        stuck?.nextAttemptAt && formatTime(stuck.nextAttemptAt),
        stuck?.errorMessage && oneLine(stuck.errorMessage).slice(0, ERROR_MAX_CHARS),
      ]),
      'No run is stuck.',
    ),
    ...(reasons.size > 0 ? ['', ...[...reasons].map((reason) => `${reason}: ${MEND[reason]}`)] : []),
  ].join('\n');
}
