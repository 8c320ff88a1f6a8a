import { readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { createWebhookActivities } from '../activities/webhook-activities.ts';
import { createEncryption } from '../db/encrypt.ts';
import { DATA_CONVERTER, DEFAULT_NAMESPACE } from '../engine/connect.ts';
import { beginTurn } from '../engine/start-delivery-workflow.ts';
import { webhookTaskQueue } from '../flow/delivery.ts';
import { createGuardedPost } from '../net/guarded-post.ts';
import { createResolvePublic } from '../net/resolve-public.ts';
import type { WorkerDeps } from './worker-deps.ts';

/** Deliveries wait for hours, so few are worth keeping in memory. */
const CACHED_WORKFLOWS_MAX = 200;

/** Creates a worker for webhook deliveries on `connection`, beside that for runs: neither takes the other's room. */
export function createWebhookWorker({
  config,
  db,
  client,
  connection,
  listeners,
  workflowBundle,
}: WorkerDeps): Promise<Worker> {
  const engine = { db, client, taskQueue: config.taskQueue };
  return Worker.create({
    connection,
    namespace: config.temporal.namespace ?? DEFAULT_NAMESPACE,
    dataConverter: DATA_CONVERTER,
    taskQueue: webhookTaskQueue(config.taskQueue),
    workflowBundle,
    activities: createWebhookActivities({
      db,
      encryption: createEncryption(config.secretsKeys),
      post: createGuardedPost({
        resolvePublic: createResolvePublic({ dialMap: config.dialMap }),
        ca: config.webhookCaFile && readFileSync(config.webhookCaFile, 'utf8'),
        proxy: config.egressProxy,
      }),
      listeners,
      beginTurn: (turn) => beginTurn(engine, turn),
    }),
    maxConcurrentActivityTaskExecutions: config.webhookConcurrency,
    workflowThreadPoolSize: 1,
    maxCachedWorkflows: CACHED_WORKFLOWS_MAX,
    // Longer than an attempt can take.
    shutdownGraceTime: '35 seconds',
  });
}
