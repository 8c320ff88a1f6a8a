// Lists the workers that poll a task queue, for health checks and for operators.

import type { Connection } from '@temporalio/client';

export const WORKFLOW_TASKS = 1;
export const ACTIVITY_TASKS = 2;
const VERSIONED = 2;
/** A worker with room asks for tasks at least once a minute. */
const SEEN_WITHIN_SECONDS = 90;

type WorkflowService = Connection['workflowService'];
type Queue = { namespace: string; name: string; type: typeof WORKFLOW_TASKS | typeof ACTIVITY_TASKS };

/** A worker that asks for tasks: how long ago it did, and its version, if any. */
export type Poller = { secondsAgo: number; version?: string | undefined };
/** A version that gets what begins now, or a share of it; undefined stands for workers without a version. */
export type ChosenVersion = { state: 'current' | 'ramping'; version: string | undefined };
export type Polled = { pollers: Poller[]; chosen: ChosenVersion[] };

/** Lists the pollers, latest poll first. The engine lists a killed worker for five more minutes. */
export async function listPollers(
  service: WorkflowService,
  { namespace, name, type }: Queue,
): Promise<Polled> {
  const { pollers, versioningInfo } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: type,
  });
  const now = Date.now() / 1_000;
  return {
    pollers: pollers
      .map(({ lastAccessTime, deploymentOptions }) => ({
        secondsAgo: Math.max(0, Math.round(now - Number(lastAccessTime?.seconds ?? 0))),
        version:
          deploymentOptions?.workerVersioningMode === VERSIONED ? nameVersion(deploymentOptions) : undefined,
      }))
      .sort((a, b) => a.secondsAgo - b.secondsAgo),
    chosen: listChosen(versioningInfo),
  };
}

/** Whether a worker asked for tasks so recently that it is still there. */
export function isSeen({ secondsAgo }: Poller): boolean {
  return secondsAgo <= SEEN_WITHIN_SECONDS;
}

/** Lists the versions that get what begins now, or a share of it, while no worker of theirs is there. */
export function listUnserved({ pollers, chosen }: Polled): ChosenVersion[] {
  const seen = pollers.filter(isSeen);
  return chosen.filter(({ version }) => !seen.some((poller) => poller.version === version));
}

type VersioningInfo = Awaited<ReturnType<WorkflowService['describeTaskQueue']>>['versioningInfo'];

/** Lists the versions that get what begins now. Where no version is named, workers without one are meant. */
export function listChosen(info: VersioningInfo): ChosenVersion[] {
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } = info ?? {};
  const percentage = rampingVersionPercentage ?? 0;
  const chosen: ChosenVersion[] = [];
  if (percentage < 100) chosen.push({ state: 'current', version: nameVersion(currentDeploymentVersion) });
  if (percentage > 0) chosen.push({ state: 'ramping', version: nameVersion(rampingDeploymentVersion) });
  return chosen;
}

/** Names a version as the search attribute TemporalWorkerDeploymentVersion does. */
function nameVersion(
  version: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): string | undefined {
  return version ? `${version.deploymentName}:${version.buildId}` : undefined;
}
