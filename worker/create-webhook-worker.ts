import { readFileSync } from 'node:fs';
import { type Logger, UnexpectedError, Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import { createDeliveryGate } from '../activities/deliveries/delivery-gate.ts';
import { createWebhookActivities } from '../activities/deliveries/webhook-activities.ts';
import { webhookTaskQueue } from '../flow/delivery.ts';
import { createBytesGate } from '../platform/limits/gates.ts';
import { createGuardedPost } from '../platform/net/guarded-post.ts';
import { createResolvePublic } from '../platform/net/resolve-public.ts';
import { observeGates } from '../platform/observability/metrics/gate-metrics.ts';
import { DELIVERIES_GRACE_MS } from '../platform/process/end-times.ts';
import { createEncryption } from '../platform/secrets/encrypt.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { isPolling, type QueueWorker, shutDown, withSettings, workerVersion } from './queue-worker.ts';
import { createTraceSinks, traceActivities } from './trace-activities.ts';
import type { WorkerDeps } from './worker-deps.ts';

/** A worker of Temporal's SDK whose workflow thread, of some 25 MB, starts with its first workflow. */
class LateThreadWorker extends Worker {
  protected static override async createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    let hasEnded = false;
    let started: Promise<WorkflowCreator> | undefined;

    /** With an UnexpectedError, the worker ends, as one does whose thread ends. */
    async function start(): Promise<WorkflowCreator> {
      if (hasEnded) throw new UnexpectedError('A workflow came after the worker had ended');
      return Worker.createWorkflowCreator(bundle, options, logger).catch((error) => {
        throw new UnexpectedError(`The workflow thread could not be started: ${error}`, error);
      });
    }

    return {
      async createWorkflow(workflow) {
        started ??= start();
        return (await started).createWorkflow(workflow);
      },
      async destroy() {
        hasEnded = true;
        await started?.then(
          (creator) => creator.destroy(),
          () => undefined,
        );
      },
    };
  }
}

const HEARTBEAT_THROTTLE_MS = 1_000;
/** Deliveries wait for hours, so few are worth keeping in memory. */
const CACHED_WORKFLOWS_MAX = 200;

/** Creates a worker for webhook deliveries on `connection`, beside that for runs: neither takes the other's room. */
export async function createWebhookWorker({
  config,
  db,
  connection,
  listeners,
  workflowBundle,
}: WorkerDeps): Promise<QueueWorker> {
  const gate = createDeliveryGate();
  const worker = await LateThreadWorker.create({
    connection,
    namespace: config.temporal.namespace,
    dataConverter: createDataConverter(config),
    // A delivery may take fifteen hours, and an old version should not have to run for so long.
    ...workerVersion(config, 'AUTO_UPGRADE'),
    interceptors: traceActivities(),
    sinks: createTraceSinks(),
    taskQueue: webhookTaskQueue(config.taskQueue),
    workflowBundle: await withSettings(config, workflowBundle),
    activities: createWebhookActivities({
      db,
      encryption: createEncryption(config.secretsKeys),
      post: createGuardedPost({
        resolvePublic: createResolvePublic({ dialMap: config.dialMap }),
        ca: config.webhookCaFile && readCaFile(config.webhookCaFile),
        proxy: config.egressProxy,
      }),
      inputs: createBytesGate(),
      listeners,
      gate,
    }),
    maxConcurrentActivityTaskExecutions: config.webhookConcurrency,
    // The answer that an attempt keeps reaches the engine within this time.
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    workflowThreadPoolSize: 1,
    maxCachedWorkflows: CACHED_WORKFLOWS_MAX,
    shutdownGraceTime: DELIVERIES_GRACE_MS,
  });
  return {
    isPolling: () => isPolling(worker),
    async run() {
      const stopMeasuring = observeGates({ webhooks: gate });
      await worker.run().finally(stopMeasuring);
    },
    shutdown: () => shutDown(worker),
  };
}

function readCaFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`WEIR_WEBHOOK_CA_FILE cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}
