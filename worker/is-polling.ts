import type { Worker } from '@temporalio/worker';

/** Whether a worker asks the engine for work. */
export function isPolling(worker: Worker): boolean {
  const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
  return runState === 'RUNNING' && workflowPollerState !== 'FAILED' && activityPollerState !== 'FAILED';
}
