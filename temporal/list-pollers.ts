// Lists the workers that poll a task queue, for health checks and for operators.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Connection } from '@temporalio/client';
import { askEngine } from './ask-engine.ts';
import { GRPC, grpcCodeOf, UNANSWERED } from './engine-errors.ts';

/** The engine answers in milliseconds when it works; a probe must not wait longer. */
const TIMEOUT_MS = 1_000;

/** The engine is asked once in this time, however many ask for it. */
const KEEP_MS = 1_000;

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

/** Creates a function that returns whether the engine answers nothing about `taskQueue`. The function never rejects. */
export function createEngineProbe(
  client: Client,
  namespace: string,
  taskQueue: string,
): () => Promise<boolean> {
  let last: { isAway: Promise<boolean>; at: number } | undefined;
  const describe = () =>
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: ACTIVITY_TASKS,
    });
  return () => {
    if (last && performance.now() - last.at <= KEEP_MS) return last.isAway;
    const asked = askEngine(client, describe, TIMEOUT_MS).then(
      () => false,
      (error: unknown) => UNANSWERED.includes(grpcCodeOf(error) ?? GRPC.cancelled),
    );
    // A connection that was lost is tried again for seconds, whatever the deadline.
    const isAway = Promise.race([asked, sleep(TIMEOUT_MS, true, { ref: false })]);
    last = { isAway, at: performance.now() };
    return isAway;
  };
}
