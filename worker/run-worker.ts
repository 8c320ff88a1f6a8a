import { setTimeout as sleep } from 'node:timers/promises';
import { createCancellations } from '../activities/cancellations.ts';
import { createInProcessRuns } from '../activities/in-process-runs.ts';
import { log } from '../platform/observability/log.ts';
import { FAILED_WORKER_END_MAX_MS } from '../platform/process/end-times.ts';
import { createFlowWorker } from './create-flow-worker.ts';
import { createWebhookWorker } from './create-webhook-worker.ts';
import { listenForCancellations } from './listen-for-cancellations.ts';
import { createMaintenanceWorker } from './maintenance/create-maintenance-worker.ts';
import { keepSchedules } from './maintenance/keep-schedules.ts';
import type { QueueWorker } from './queue-worker.ts';
import { reconcile } from './reconciler/reconcile.ts';
import { registerSearchAttributes } from './register-search-attributes.ts';
import type { WorkerDeps } from './worker-deps.ts';

export type RunningWorker = {
  /** Whether it asks for work. */
  isPolling(): boolean;
  /** Settles when the worker has ended; rejects when it failed. */
  ended: Promise<void>;
  /** Ends the reconciler; the worker continues what it runs. */
  stopReconciler(): void;
  /** Asks the worker to end; what it runs may finish within the grace time. */
  shutdown(): void;
};

/** Starts the workers of a process, the reconciler, and what keeps the schedules of maintenance. */
export async function runWorker(
  given: Omit<WorkerDeps, 'cancellations' | 'inProcessRuns'> & Partial<Pick<WorkerDeps, 'inProcessRuns'>>,
): Promise<RunningWorker> {
  const inProcessRuns = given.inProcessRuns ?? createInProcessRuns();
  const cancellations = createCancellations(inProcessRuns.contexts);
  const deps: WorkerDeps = { ...given, inProcessRuns, cancellations };
  const { config, db, client, connection } = deps;
  await registerSearchAttributes(connection, config.temporal.namespace);
  const creators = { flows: [createFlowWorker, createMaintenanceWorker], webhooks: [createWebhookWorker] };
  const workers: QueueWorker[] = [];
  for (const role of config.workerRoles)
    for (const create of creators[role]) workers.push(await create(deps));
  if (config.deployment)
    log.info(
      config.deployment,
      'This worker belongs to a version. It gets runs once that version is current or ramping: docs/operating/worker-versions.md.',
    );
  const stopping = new AbortController();
  const engine = { db, client, taskQueue: config.taskQueue };
  const background = [reconcile(engine, stopping.signal)];
  if (deps.schedules !== false && config.workerRoles.includes('flows'))
    background.push(keepSchedules(engine, stopping.signal));
  background.push(listenForCancellations({ ...deps, ...engine }, deps.notifications, stopping.signal));
  const running = new Set(workers);
  const stopReconciler = () => stopping.abort();
  const shutdown = () => {
    stopReconciler();
    for (const worker of running) worker.shutdown();
    running.clear();
  };
  // When one of the workers ends, the others do too.
  const ends = workers.map((worker) =>
    worker.run().finally(() => {
      running.delete(worker);
      shutdown();
    }),
  );
  return {
    isPolling: () => workers.every((worker) => worker.isPolling()),
    ended: allEnded([...ends, ...background]),
    stopReconciler,
    shutdown,
  };
}

/** Resolves once all have ended. When one fails, the others may end first, if they do in time; then it rejects. */
async function allEnded(parts: Promise<void>[]): Promise<void> {
  try {
    await Promise.all(parts);
  } catch (error) {
    await Promise.race([Promise.allSettled(parts), sleep(FAILED_WORKER_END_MAX_MS)]);
    throw error;
  }
}
