// What the workers of runs and of deliveries share.

import { readFile } from 'node:fs/promises';
import type { Worker, WorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { Config } from '../platform/config/config.ts';

/** Read by workflows/failure-converter.ts: workflow code knows no configuration. In the first line, so that stacks stay true. */
const SWITCH = 'globalThis.weirEncodesFailures=true;';

/** A worker for some task queues. */
export type QueueWorker = {
  /** Whether it asks for work of each kind. */
  isPolling(): boolean;
  /** Resolves when the worker has shut down; rejects when it failed. */
  run(): Promise<void>;
  /** Stops taking work, lets what runs finish within the grace time, and ends what it has started. */
  shutdown(): void;
};

/** Whether a worker asks the engine for work. */
export function isPolling(worker: Worker): boolean {
  const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
  return runState === 'RUNNING' && workflowPollerState !== 'FAILED' && activityPollerState !== 'FAILED';
}

/** Asks a worker to end; one that has failed, or is ending, is left alone. */
export function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

/**
 * Returns the options by which a worker takes part in Worker Versioning, none without it. `behavior`: whether a workflow ends
 * on the version that it began on (PINNED), or goes on with the one that is current (AUTO_UPGRADE).
 */
export function workerVersion(
  { deployment }: Pick<Config, 'deployment'>,
  behavior: 'PINNED' | 'AUTO_UPGRADE',
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!deployment) return {};
  return {
    workerDeploymentOptions: {
      version: deployment,
      useWorkerVersioning: true,
      defaultVersioningBehavior: behavior,
    },
  };
}

/** Returns the workflow code; where payloads are encrypted, it puts messages of failures into payloads. */
export async function encodeFailures(
  { temporalEncryption }: Pick<Config, 'temporalEncryption'>,
  bundle: WorkflowBundleOption,
): Promise<WorkflowBundleOption> {
  if (!temporalEncryption.encrypts) return bundle;
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  return { code: SWITCH + code };
}
