// What the workers of runs and of deliveries share.

import { readFile } from 'node:fs/promises';
import type { Worker, WorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { Config } from '../platform/config/config.ts';
import type { WorkflowSettings } from '../workflows/settings.ts';

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

/** Shuts a worker down. Does nothing for a failed or stopping worker. */
export function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

/**
 * Returns the options for Worker Versioning, or none without it. `behavior`: a workflow ends on its first version (PINNED), or
 * continues on the current version (AUTO_UPGRADE).
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

/** Returns the workflow code with its settings (workflows/settings.ts), in its first line, so that stacks stay true. */
export async function withSettings(
  { temporalEncryption, heartbeatTimeoutMs }: Pick<Config, 'temporalEncryption' | 'heartbeatTimeoutMs'>,
  bundle: WorkflowBundleOption,
): Promise<WorkflowBundleOption> {
  const settings: WorkflowSettings = { encodesFailures: temporalEncryption.encrypts, heartbeatTimeoutMs };
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  return { code: `globalThis.weirSettings=${JSON.stringify(settings)};${code}` };
}
