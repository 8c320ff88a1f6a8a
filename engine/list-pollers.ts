// Lists the workers that ask for the tasks of a task queue, for health checks and for operators.
import type { Connection } from '@temporalio/client';

export const WORKFLOW_TASKS = 1;
export const ACTIVITY_TASKS = 2;
const VERSIONED = 2;
/** A worker with room asks for tasks at least once a minute. */
const SEEN_WITHIN_SECONDS = 90;

type WorkflowService = Connection['workflowService'];
type Queue = { namespace: string; name: string; type: typeof WORKFLOW_TASKS | typeof ACTIVITY_TASKS };

/** A worker that asks for tasks: how long ago it did, whether it gets those of what begins now, and its version, if any. */
export type Poller = { secondsAgo: number; getsNew: boolean; version?: string | undefined };

/** Lists them, the one that asked last first. The engine keeps a killed worker in mind for five minutes. */
export async function listPollers(
  service: WorkflowService,
  { namespace, name, type }: Queue,
): Promise<Poller[]> {
  const { pollers, versioningInfo } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: type,
  });
  const now = Date.now() / 1_000;
  return pollers
    .map(({ lastAccessTime, deploymentOptions }) => ({
      secondsAgo: Math.max(0, Math.round(now - Number(lastAccessTime?.seconds ?? 0))),
      getsNew: getsNew(deploymentOptions, versioningInfo),
      version: versionOf(deploymentOptions),
    }))
    .sort((a, b) => a.secondsAgo - b.secondsAgo);
}

/** Whether a worker asked for tasks so recently that it is still there. */
export function isSeen({ secondsAgo }: Poller): boolean {
  return secondsAgo <= SEEN_WITHIN_SECONDS;
}

type Polls = Awaited<ReturnType<WorkflowService['describeTaskQueue']>>;
type DeploymentOptions = Polls['pollers'][number]['deploymentOptions'];

/** Names a worker's version as the search attribute TemporalWorkerDeploymentVersion does. */
function versionOf(own: DeploymentOptions): string | undefined {
  return own?.workerVersioningMode === VERSIONED ? `${own.deploymentName}:${own.buildId}` : undefined;
}

/** Whether the engine gives what is new to a worker: one of the version that is current, or ramping above 0%. */
export function getsNew(own: DeploymentOptions, chosen: Polls['versioningInfo']): boolean {
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } = chosen ?? {};
  const versions = [
    currentDeploymentVersion,
    ...(rampingVersionPercentage ? [rampingDeploymentVersion] : []),
  ];
  // Where there is no version, workers without one are meant.
  if (own?.workerVersioningMode !== VERSIONED) return versions.some((version) => !version);
  return versions.some(
    (version) => version?.deploymentName === own.deploymentName && version?.buildId === own.buildId,
  );
}
