import { randomUUID } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { createHeldModelCalls } from '../activities/held-model-calls.ts';
import { createActivities } from '../activities/index.ts';
import { createTakeOverActivities } from '../activities/model-activities.ts';
import { HEARTBEAT_INTERVAL_MS } from '../activities/run-attempt.ts';
import { createSandbox } from '../activities/sandbox/sandbox.ts';
import { createEncryption } from '../db/encrypt.ts';
import { createInProcessRuns } from '../db/runs/in-process-runs.ts';
import { DEFAULT_NAMESPACE } from '../engine/connect.ts';
import { createDataConverter } from '../engine/data-converter.ts';
import { createOrganizationLimit } from '../fairness/organization-limit.ts';
import { createTurns } from '../fairness/turns.ts';
import { blockTaskQueue } from '../flow/run.ts';
import { createValidator } from '../json-schema/validator.ts';
import { encodeFailures } from './encode-failures.ts';
import { isPolling } from './is-polling.ts';
import type { QueueWorker } from './queue-worker.ts';
import { createRunSinks } from './run-sinks.ts';
import { createTraceSinks, traceActivities } from './trace-activities.ts';
import type { WorkerDeps } from './worker-deps.ts';
import { workerVersion } from './worker-version.ts';

/**
 * Workflow tasks at a time, and local activities in them. Model calls hold at most 128 of each (activities/held-model-calls.ts),
 * so that other blocks never wait for a model.
 */
const WORKFLOW_TASKS_MAX = 200;
const LOCAL_ACTIVITIES_MAX = 300;
/** Blocks that may wait for their turn in one worker; the others wait in Temporal, where organizations take turns too. */
const WAITING_BLOCKS_MAX = 500;
/**
 * Statements on one organization's balance that wait for each other in the database: while the answer of one is on its way,
 * the database works on the next. The other connections are for other organizations.
 */
export const BALANCE_STATEMENTS_MAX = 4;

/** Creates a worker for flow runs on `connection`, and for blocks of them that wait for their turn. */
export async function createFlowWorker(deps: WorkerDeps): Promise<QueueWorker> {
  const { config, db, connection, workflowBundle, registry } = deps;
  const sandbox = createSandbox({
    processes: config.sandboxProcesses,
    reserve: config.sandboxReserve,
    largeJson: deps.largeValues.json,
  });
  const validator = createValidator();
  const inProcessRuns = deps.inProcessRuns ?? createInProcessRuns();
  const heldModelCalls = createHeldModelCalls(`${config.taskQueue}-calls-${randomUUID()}`);
  const activities = createActivities({
    db,
    definitions: deps.definitions,
    balanceLimit: createOrganizationLimit(BALANCE_STATEMENTS_MAX),
    sandbox,
    codePrice: config.codePrice,
    validator,
    largeValues: deps.largeValues,
    registry,
    providers: config.providers,
    providerUrls: config.providerUrls,
    encryption: createEncryption(config.secretsKeys),
    requestModelKeys: deps.requestModelKeys,
    inProcessRuns,
    modelTurns: createTurns({ places: config.modelConcurrency, reserve: 0 }),
    heldModelCalls,
    modelCallsInTask: deps.modelCallsInTask,
  });
  const options = {
    connection,
    namespace: config.temporal.namespace ?? DEFAULT_NAMESPACE,
    interceptors: traceActivities(),
    dataConverter: createDataConverter(config),
    // Longer than a model usually takes, so that a deploy does not pay for the same answer twice.
    shutdownGraceTime: '30 seconds',
  } as const;
  // A run takes seconds, so it ends on the code that it began with.
  const version = workerVersion(config, 'PINNED');
  const workers = [
    await Worker.create({
      ...options,
      ...version,
      activities,
      taskQueue: config.taskQueue,
      sinks: { ...createRunSinks(inProcessRuns), ...createTraceSinks() },
      workflowBundle: await encodeFailures(config, workflowBundle),
      // All that can be at work here at once. Runs that wait longer, as parked ones do, are the first to leave memory.
      maxCachedWorkflows: WORKFLOW_TASKS_MAX + config.modelConcurrency + WAITING_BLOCKS_MAX,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_MAX,
      maxConcurrentLocalActivityExecutions: LOCAL_ACTIVITIES_MAX,
      maxConcurrentActivityTaskExecutions: config.modelConcurrency,
      // A model call learns from its heartbeat that it is cancelled.
      maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
    }),
    await Worker.create({
      ...options,
      ...version,
      activities,
      taskQueue: blockTaskQueue(config.taskQueue),
      maxConcurrentActivityTaskExecutions: WAITING_BLOCKS_MAX,
      // Many may wait, so their heartbeats should cost little.
      maxHeartbeatThrottleInterval: '10 seconds',
    }),
  ];
  // Without a version: a version has room for a hundred task queues, and this one is the process's own.
  const takingOver = await Worker.create({
    ...options,
    activities: createTakeOverActivities({ heldModelCalls }),
    taskQueue: heldModelCalls.taskQueue,
    maxConcurrentActivityTaskExecutions: config.modelConcurrency,
    maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
  });
  const shutdown = () => {
    // Another worker takes the blocks that wait here.
    sandbox.drain();
    for (const worker of workers) shutDown(worker);
    // Calls under way are still handed over from workflow tasks to activities of this process.
    void heldModelCalls.drain().then(() => shutDown(takingOver));
  };
  return {
    isPolling: () => [...workers, takingOver].every(isPolling),
    async run() {
      // When one of the workers ends, the other does too.
      const all = [...workers, takingOver];
      const ends = await Promise.allSettled(all.map((worker) => worker.run().finally(shutdown)));
      await Promise.all([sandbox.close(), validator.close()]);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
    shutdown,
  };
}

function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
