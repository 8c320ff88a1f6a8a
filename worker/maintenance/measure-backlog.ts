// The metrics of what waits, which a scheduled job asks the database and the engine for.
import type { Client } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { findBacklog } from '../../db/upkeep/list-unfinished.ts';
import { measureDatabases } from '../../db/upkeep/measure-databases.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import { RUN_FLOW } from '../../flow/run.ts';
import { lasting } from '../../platform/observability/metrics/instruments.ts';
import { creditsReserved, oldestDueDelivery } from '../../platform/observability/metrics/run-metrics.ts';
import {
  backlog,
  backlogAge,
  databaseDisk,
  databaseSize,
  failingWorkflows,
  runsCrashLooping,
  runsInFlight,
} from '../../platform/observability/metrics/worker-metrics.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
import { ACTIVITY_TASKS, WORKFLOW_TASKS } from '../../temporal/list-pollers.ts';
import { countProblems, type Problems } from '../../temporal/list-problems.ts';
import { countFailingWorkflows } from './log-failing-workflow-tasks.ts';

/** Longer than the time between two measurements. */
const LAST_MS = 120_000;

const tasks = lasting(backlog, LAST_MS);
const ages = lasting(backlogAge, LAST_MS);
const oldestDue = lasting(oldestDueDelivery, LAST_MS);
const inFlight = lasting(runsInFlight, LAST_MS);
const losing = lasting(runsCrashLooping, LAST_MS);
const reserved = lasting(creditsReserved, LAST_MS);
const failing = lasting(failingWorkflows, LAST_MS);
const size = lasting(databaseSize, LAST_MS);
const disk = lasting(databaseDisk, LAST_MS);

const BYTES_OF_GB = 1e9;

type Deps = { db: Db; client: Client; taskQueue: string; databaseDiskGb?: number | undefined };
type Stats = { count: number; ageSeconds: number };

/** Looks at what waits, in the database and in the engine. */
export async function measureBacklog({ db, client, taskQueue, databaseDiskGb }: Deps): Promise<void> {
  const { oldestDueSeconds, runs, crashLooping, reservedMicrocredits } = await findBacklog(db);
  oldestDue.set([{ value: oldestDueSeconds }]);
  inFlight.set([{ value: runs }]);
  size.set([{ value: await measureDatabases(db) }]);
  disk.set(databaseDiskGb === undefined ? [] : [{ value: databaseDiskGb * BYTES_OF_GB }]);
  reserved.set([{ value: reservedMicrocredits / MICROCREDITS_PER_CREDIT }]);
  const queues = [
    { queue: 'runs', name: taskQueue, types: [WORKFLOW_TASKS, ACTIVITY_TASKS] },
    { queue: 'webhooks', name: webhookTaskQueue(taskQueue), types: [WORKFLOW_TASKS, ACTIVITY_TASKS] },
  ];
  const found = await Promise.all(
    queues.map(async ({ queue, name, types }) => {
      const stats = await Promise.all(types.map((type) => askStats(client, name, type)));
      return {
        labels: { queue },
        count: stats.reduce((sum, { count }) => sum + count, 0),
        age: Math.max(...stats.map(({ ageSeconds }) => ageSeconds)),
      };
    }),
  );
  tasks.set(found.map(({ labels, count }) => ({ labels, value: count })));
  ages.set(found.map(({ labels, age }) => ({ labels, value: age })));
  failing.set([{ value: await countFailingWorkflows({ client, taskQueue }) }]);
  const timedOut: Problems = {
    problem: 'WorkflowTaskTimedOut',
    taskQueues: [taskQueue],
    workflowType: RUN_FLOW,
  };
  const losingInTask = await askEngine(client, () => countProblems(client, timedOut));
  losing.set([{ value: crashLooping + losingInTask }]);
}

async function askStats(client: Client, name: string, taskQueueType: number): Promise<Stats> {
  const { stats } = await askEngine(client, () =>
    client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name },
      taskQueueType,
      reportStats: true,
    }),
  );
  const { seconds, nanos } = stats?.approximateBacklogAge ?? {};
  return {
    count: Number(stats?.approximateBacklogCount ?? 0),
    ageSeconds: Number(seconds ?? 0) + Number(nanos ?? 0) / 1e9,
  };
}
