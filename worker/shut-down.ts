import type { Worker } from '@temporalio/worker';

/** Asks a worker to end; one that has failed, or is ending, is left alone. */
export function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
