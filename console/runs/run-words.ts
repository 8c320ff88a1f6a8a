// A run's shape and address, and the words for its version, status and mode.

/** Returns `v3`, or `draft` for version 0. */
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

/** The names of the ways to start a run. */
export const MODE_NAMES: Record<string, string> = {
  execute: 'Execute',
  jobs: 'Job',
  step: 'Step session',
  test: 'Test case',
};
