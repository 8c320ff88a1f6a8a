import { type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { HEARTBEAT_INTERVAL_MS } from '../activities/attempted.ts';
import { createActivities } from '../activities/index.ts';
import { createSandbox } from '../activities/sandbox/sandbox.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import { createEncryption } from '../db/encrypt.ts';
import { createLocalRuns, type LocalRuns } from '../db/local-runs.ts';
import type { RequestKeys } from '../db/request-keys.ts';
import { createValidator } from '../json-schema/validator.ts';
import type { Registry } from '../models/registry.ts';
import { DATA_CONVERTER, DEFAULT_NAMESPACE } from '../temporal.ts';

export type FlowWorker = {
  /** Resolves when the worker has shut down; rejects when it failed. */
  run(): Promise<void>;
  /** Stops taking work, lets what runs finish within the grace time, then ends the sandbox processes. */
  shutdown(): void;
};

/** A worker for flow runs on `connection`. */
export async function createFlowWorker(deps: {
  config: Config;
  db: Db;
  connection: NativeConnection;
  workflowBundle: WorkflowBundleOption;
  registry: Registry;
  localRuns?: LocalRuns;
  requestKeys: RequestKeys;
}): Promise<FlowWorker> {
  const { config, db, connection, workflowBundle, registry } = deps;
  const sandbox = createSandbox({ processes: config.sandboxProcesses });
  const validator = createValidator();
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace ?? DEFAULT_NAMESPACE,
    dataConverter: DATA_CONVERTER,
    taskQueue: config.taskQueue,
    workflowBundle,
    activities: createActivities({
      db,
      sandbox,
      validator,
      registry,
      providers: config.providers,
      providerUrls: config.providerUrls,
      encryption: createEncryption(config.secretsKeys),
      requestKeys: deps.requestKeys,
      localRuns: deps.localRuns ?? createLocalRuns(),
    }),
    maxConcurrentActivityTaskExecutions: config.modelConcurrency,
    // A cancelled model call learns of it by its heartbeat.
    maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
    // Longer than a model usually takes: a deploy does not pay for the same answer twice.
    shutdownGraceTime: '30 seconds',
  });
  return {
    async run() {
      try {
        await worker.run();
      } finally {
        await Promise.all([sandbox.close(), validator.close()]);
      }
    },
    shutdown: () => worker.shutdown(),
  };
}
