// The words in which pages speak of runs.

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
  execute: 'Execute',
  jobs: 'Job',
  step: 'Step session',
  test: 'Test case',
};
