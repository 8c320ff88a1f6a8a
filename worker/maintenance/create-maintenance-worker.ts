import { Worker } from '@temporalio/worker';
import { createMaintenanceActivities } from '../../activities/maintenance/maintenance-activities.ts';
import { maintenanceTaskQueue, SCHEDULED_JOBS } from '../../flow/maintenance.ts';
import { createDataConverter } from '../../temporal/data-converter.ts';
import { isPolling, type QueueWorker, shutDown, workerVersion } from '../queue-worker.ts';
import { traceActivities } from '../trace-activities.ts';
import type { WorkerDeps } from '../worker-deps.ts';
import { logFailingWorkflowTasks } from './log-failing-workflow-tasks.ts';
import { measureBacklog } from './measure-backlog.ts';

/** A job stops at its next batch, and another worker goes on with it. */
const GRACE_MS = 1_000;

/**
 * Creates a worker for the activities of scheduled jobs on `connection`. Their workflows, one activity each, run on the worker for
 * flow runs: a workflow thread of their own would take 25 MB.
 */
export async function createMaintenanceWorker({
  config,
  db,
  client,
  connection,
  measures,
}: WorkerDeps): Promise<QueueWorker> {
  const engine = { db, client, taskQueue: config.taskQueue };
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    dataConverter: createDataConverter(config),
    ...workerVersion(config, 'PINNED'),
    interceptors: traceActivities(),
    taskQueue: maintenanceTaskQueue(config.taskQueue),
    activities: createMaintenanceActivities({
      db,
      retentionDays: config.retentionDays,
      async measureBacklog() {
        await logFailingWorkflowTasks(engine);
        if (measures) await measureBacklog({ ...engine, databaseDiskGb: config.databaseDiskGb });
      },
    }),
    maxConcurrentActivityTaskExecutions: SCHEDULED_JOBS.length,
    maxConcurrentActivityTaskPolls: 1,
    shutdownGraceTime: GRACE_MS,
  });
  return {
    isPolling: () => isPolling(worker),
    run: () => worker.run(),
    shutdown: () => shutDown(worker),
  };
}
