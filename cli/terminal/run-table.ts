import { formatTable, formatTime } from './format-table.ts';

type Run = {
  executionId: string;
  organization: string;
  project: string;
  flow: string;
  version: number;
  mode: string;
  status: string;
  /** The code of its error, of a run that failed. */
  code?: string | undefined;
  startedAt: string | Date;
  durationMs: number | null;
  cost: number;
};

/** Formats one row per run. */
export function runTable(runs: Run[]): string {
  return formatTable(
    ['execution', 'flow', 'version', 'mode', 'status', 'started', 'ms', 'credits'],
    runs.map((run) => [
      run.executionId,
      `${run.organization}/${run.project}/${run.flow}`,
      run.version,
      run.mode,
      run.code === undefined ? run.status : `${run.status} (${run.code})`,
      formatTime(run.startedAt),
      run.durationMs,
      run.cost,
    ]),
    'No runs were found.',
  );
}
