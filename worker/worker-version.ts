import type { WorkerOptions } from '@temporalio/worker';
import type { Config } from '../platform/config/config.ts';

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
