import type { NativeConnection, WorkflowBundleOption } from '@temporalio/worker';
import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import type { LocalRuns } from '../db/local-runs.ts';
import type { Registry } from '../models/registry.ts';
import { createClient, DEFAULT_NAMESPACE } from '../temporal.ts';
import { createFlowWorker } from './create-worker.ts';
import { keepReconciling } from './reconcile.ts';
import { registerSearchAttributes } from './register-search-attributes.ts';

export type RunningWorker = {
  /** Settles when the worker has ended; rejects when it failed. */
  ended: Promise<void>;
  /** Asks it to end; what it runs may finish within its grace time. */
  shutdown(): void;
};

/** A worker with its reconciler, running. */
export async function runWorker(deps: {
  config: Config;
  db: Db;
  connection: NativeConnection;
  workflowBundle: WorkflowBundleOption;
  registry: Registry;
  localRuns?: LocalRuns;
}): Promise<RunningWorker> {
  const { config, db, connection } = deps;
  await registerSearchAttributes(connection, config.temporal.namespace ?? DEFAULT_NAMESPACE);
  const worker = await createFlowWorker(deps);
  const stopping = new AbortController();
  const reconciling = keepReconciling(
    { db, client: createClient(config, connection), taskQueue: config.taskQueue },
    stopping.signal,
  );
  return {
    ended: worker.run().finally(() => {
      stopping.abort();
      return reconciling;
    }),
    shutdown: () => worker.shutdown(),
  };
}
