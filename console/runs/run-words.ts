// The words in which pages speak of runs.

/** The status as it is shown: a run that somebody cancelled has failed with the code `CANCELLED`. */
export function runStatus({ status, code }: { status: string; code?: string | undefined }): string {
  if (status === 'failed' && code === 'CANCELLED') return 'cancelled';
  return status === 'tool_calls_required' ? 'paused' : status;
}

/** v3, or draft for version 0. */
export function versionName(version: number): string {
  return version === 0 ? 'draft' : `v${version}`;
}

export const STATUS_NAMES: Record<string, string> = {
  started: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  tool_calls_required: 'Waiting for tools',
  in_progress: 'Between steps',
};

/** How a run was started. */
export const MODE_NAMES: Record<string, string> = {
  execute: 'Execute (waits)',
  jobs: 'Job',
  step: 'Step session',
  test: 'Test case',
};
