import { Worker } from '@temporalio/worker';
import { workerShutdown } from '../activities/attempts/worker-shutdown.ts';
import { createSandbox } from '../activities/code/sandbox.ts';
import { createActivities } from '../activities/index.ts';
import { createAnswerLengths } from '../activities/model/answer-lengths.ts';
import { createFormatRefusals } from '../activities/model/format-refusals.ts';
import { createProviderOutages } from '../activities/model/provider-outages.ts';
import { createValidator } from '../platform/json-schema/validator.ts';
import { createFairQueue } from '../platform/limits/fair-queue.ts';
import { createActivityGates } from '../platform/limits/gates.ts';
import { observeGates } from '../platform/observability/metrics/gate-metrics.ts';
import { BLOCKS_GRACE_MS } from '../platform/process/end-times.ts';
import { createEncryption } from '../platform/secrets/encrypt.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { isPolling, type QueueWorker, shutDown, withSettings, workerVersion } from './queue-worker.ts';
import { createTraceSinks, traceActivities } from './trace-activities.ts';
import type { WorkerDeps } from './worker-deps.ts';

/**
 * Workflow tasks at a time, and local activities in them. Model calls hold at most 128 of each (activities/model-activities.ts),
 * so that other blocks never wait for a model.
 */
const WORKFLOW_TASKS_MAX = 200;
const LOCAL_ACTIVITIES_MAX = 300;
/** Slots of activities that wait two seconds at most: those of test cases, and those that are rescheduled. */
const BRIEF_SLOTS = 100;
/** An answer that an attempt keeps for the next one reaches the engine within this time. */
const HEARTBEAT_THROTTLE_MS = 1_000;
/**
 * Statements on one organization's balance that wait for each other in the database: while the answer of one is on its way,
 * the database works on the next. The other connections are for other organizations.
 */
export const BALANCE_STATEMENTS_MAX = 4;

/** Workflows of runs that wait for a model and stay in memory. */
const CACHED_WAITING_MAX = 500;

/** Creates a worker for flow runs on `connection`. */
export async function createFlowWorker(deps: WorkerDeps): Promise<QueueWorker> {
  const { config, db, registry } = deps;
  const sandbox = createSandbox({
    processes: config.sandboxProcesses + config.sandboxReserve,
    largeJson: deps.largeValues.json,
  });
  const validator = createValidator();
  const gates = deps.gates ?? createActivityGates(config);
  const activities = createActivities({
    db,
    definitions: deps.definitions,
    balanceLimit: createFairQueue({ capacity: Infinity, perKeyMax: BALANCE_STATEMENTS_MAX }),
    sandbox,
    codePrice: config.codePrice,
    validator,
    largeValues: deps.largeValues,
    registry,
    providers: config.providers,
    providerOutages: createProviderOutages(),
    answerLengths: createAnswerLengths(),
    formatRefusals: createFormatRefusals(),
    ownKeyProviders: config.ownKeyProviders,
    encryption: createEncryption(config.secretsKeys),
    inProcessRuns: deps.inProcessRuns,
    runStarts: deps.runStarts,
    gates,
    cancellations: deps.cancellations,
    fastModelMs: deps.fastModelMs,
  });
  const worker = await Worker.create({
    connection: deps.connection,
    namespace: config.temporal.namespace,
    interceptors: traceActivities(),
    dataConverter: createDataConverter(config),
    shutdownGraceTime: BLOCKS_GRACE_MS,
    // A run takes seconds, so it ends on the code that it began with.
    ...workerVersion(config, 'PINNED'),
    activities,
    taskQueue: config.taskQueue,
    sinks: createTraceSinks(),
    workflowBundle: await withSettings(config, deps.workflowBundle),
    // About what can be at work here at once. Runs that wait longer are the first to leave memory.
    maxCachedWorkflows: WORKFLOW_TASKS_MAX + CACHED_WAITING_MAX,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_MAX,
    maxConcurrentLocalActivityExecutions: LOCAL_ACTIVITIES_MAX,
    maxConcurrentActivityTaskExecutions: gates.modelCallsMax + BRIEF_SLOTS,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
  });
  const shutdown = () => {
    // Another worker takes the blocks that are queued here.
    gates.close(workerShutdown('The worker stopped before this block got a permit.'));
    shutDown(worker);
    setTimeout(deps.cancellations.drain, BLOCKS_GRACE_MS).unref();
  };
  return {
    isPolling: () => isPolling(worker),
    async run() {
      const stopMeasuring = observeGates(gates.list());
      try {
        await worker.run();
      } finally {
        shutdown();
        stopMeasuring();
        await Promise.all([sandbox.close(), validator.close()]);
      }
    },
    shutdown,
  };
}
