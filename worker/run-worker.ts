import { DEFAULT_NAMESPACE } from '../engine/connect.ts';
import { createFlowWorker } from './create-flow-worker.ts';
import { createWebhookWorker } from './create-webhook-worker.ts';
import { hearCancellations } from './hear-cancellations.ts';
import { hearWaitingDeliveries } from './hear-waiting-deliveries.ts';
import { keepReconciling } from './keep-reconciling.ts';
import { registerSearchAttributes } from './register-search-attributes.ts';
import type { WorkerDeps } from './worker-deps.ts';

type RunningWorker = {
  /** Settles when the worker has ended; rejects when it failed. */
  ended: Promise<void>;
  /** Stops repairing what died elsewhere; the worker continues what it runs. */
  stopReconciling(): void;
  /** Asks the worker to end; what it runs may finish within the grace time. */
  shutdown(): void;
};

/** Starts a worker and its reconciler. */
export async function runWorker(deps: WorkerDeps): Promise<RunningWorker> {
  const { config, db, client, connection } = deps;
  await registerSearchAttributes(connection, config.temporal.namespace ?? DEFAULT_NAMESPACE);
  const workers = [await createFlowWorker(deps), await createWebhookWorker(deps)];
  const stopping = new AbortController();
  const reconciling = keepReconciling(
    {
      db,
      client,
      taskQueue: config.taskQueue,
      retentionDays: config.retentionDays,
    },
    stopping.signal,
  );
  const hearing = [hearCancellations, hearWaitingDeliveries].map((hear) =>
    hear({ ...deps, taskQueue: config.taskQueue }, config.databaseUrl, stopping.signal),
  );
  const running = new Set(workers);
  const stopReconciling = () => stopping.abort();
  const shutdown = () => {
    stopReconciling();
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
    ended: Promise.all([...ends, reconciling, ...hearing]).then(() => undefined),
    stopReconciling,
    shutdown,
  };
}
