import { readFileSync } from 'node:fs';
import { HEARTBEAT_INTERVAL_MS } from '../activities/attempts/run-attempt.ts';
import { createWebhookActivities } from '../activities/deliveries/webhook-activities.ts';
import { webhookTaskQueue } from '../flow/delivery.ts';
import { createGuardedPost } from '../platform/net/guarded-post.ts';
import { createResolvePublic } from '../platform/net/resolve-public.ts';
import { DELIVERIES_GRACE_MS } from '../platform/process/end-times.ts';
import { createEncryption } from '../platform/secrets/encrypt.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { beginTurn } from '../temporal/start-delivery-workflow.ts';
import { encodeFailures } from './encode-failures.ts';
import { isPolling } from './is-polling.ts';
import { LateThreadWorker } from './late-thread-worker.ts';
import type { QueueWorker } from './queue-worker.ts';
import { shutDown } from './shut-down.ts';
import { createTraceSinks, traceActivities } from './trace-activities.ts';
import type { WorkerDeps } from './worker-deps.ts';
import { workerVersion } from './worker-version.ts';

/** Deliveries wait for hours, so few are worth keeping in memory. */
const CACHED_WORKFLOWS_MAX = 200;

/** Creates a worker for webhook deliveries on `connection`, beside that for runs: neither takes the other's room. */
export async function createWebhookWorker({
  config,
  db,
  client,
  connection,
  largeValues,
  listeners,
  workflowBundle,
}: WorkerDeps): Promise<QueueWorker> {
  const engine = { db, client, taskQueue: config.taskQueue };
  const worker = await LateThreadWorker.create({
    connection,
    namespace: config.temporal.namespace,
    dataConverter: createDataConverter(config),
    // A delivery may take fifteen hours, and an old version should not have to run for so long.
    ...workerVersion(config, 'AUTO_UPGRADE'),
    interceptors: traceActivities(),
    sinks: createTraceSinks(),
    taskQueue: webhookTaskQueue(config.taskQueue),
    workflowBundle: await encodeFailures(config, workflowBundle),
    activities: createWebhookActivities({
      db,
      encryption: createEncryption(config.secretsKeys),
      post: createGuardedPost({
        resolvePublic: createResolvePublic({ dialMap: config.dialMap }),
        ca: config.webhookCaFile && readCaFile(config.webhookCaFile),
        proxy: config.egressProxy,
      }),
      largeValues,
      listeners,
      beginTurn: (turn) => beginTurn(engine, turn),
    }),
    maxConcurrentActivityTaskExecutions: config.webhookConcurrency,
    // The engine takes an attempt for lost after five heartbeats that it misses, rather than after one.
    maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
    workflowThreadPoolSize: 1,
    maxCachedWorkflows: CACHED_WORKFLOWS_MAX,
    shutdownGraceTime: DELIVERIES_GRACE_MS,
  });
  return {
    isPolling: () => isPolling(worker),
    run: () => worker.run(),
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
