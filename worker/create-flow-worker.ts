import { Worker } from '@temporalio/worker';
import { createSlots } from '../activities/attempts/in-slot.ts';
import { workerShutdown } from '../activities/attempts/worker-shutdown.ts';
import { createSandbox } from '../activities/code/sandbox.ts';
import { createInProcessRuns } from '../activities/in-process-runs.ts';
import { createActivities } from '../activities/index.ts';
import { createProviderOutages } from '../activities/model/provider-outages.ts';
import { createValidator } from '../platform/json-schema/validator.ts';
import { createFairQueue } from '../platform/limits/fair-queue.ts';
import { observeTurns } from '../platform/observability/metrics/sharing-metrics.ts';
import { BLOCKS_GRACE_MS } from '../platform/process/end-times.ts';
import { createEncryption } from '../platform/secrets/encrypt.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { createModelPlaces } from './create-model-places.ts';
import { isPolling, type QueueWorker, shutDown, withSettings, workerVersion } from './queue-worker.ts';
import { createTraceSinks, traceActivities } from './trace-activities.ts';
import type { WorkerDeps } from './worker-deps.ts';

/**
 * Workflow tasks at a time, and local activities in them. Model calls hold at most 128 of each (activities/model-activities.ts),
 * so that other blocks never wait for a model.
 */
const WORKFLOW_TASKS_MAX = 200;
const LOCAL_ACTIVITIES_MAX = 300;
/** The slots for the verdicts on test cases, which wait for memory and for a thread that checks the answer's schema. */
const VERDICT_SLOTS = { places: 16, reserve: 4, few: 1 };
/** The slots for test cases whose runs wait for their organization's turn to begin. */
const TEST_START_SLOTS = { places: 8, reserve: 4, few: 1 };
const TESTS_MAX =
  VERDICT_SLOTS.places + VERDICT_SLOTS.reserve + TEST_START_SLOTS.places + TEST_START_SLOTS.reserve;
/** Slots that activities hold for an instant, when they are rescheduled. */
const BRIEF_SLOTS = 20;
/** An answer that an attempt keeps for the next one reaches the engine within this time. */
const HEARTBEAT_THROTTLE_MS = 1_000;
/**
 * Statements on one organization's balance that wait for each other in the database: while the answer of one is on its way,
 * the database works on the next. The other connections are for other organizations.
 */
export const BALANCE_STATEMENTS_MAX = 4;

/** Creates a worker for flow runs on `connection`. */
export async function createFlowWorker(deps: WorkerDeps): Promise<QueueWorker> {
  const { config, db, registry } = deps;
  const sandbox = createSandbox({
    processes: config.sandboxProcesses,
    reserve: config.sandboxReserve,
    largeJson: deps.largeValues.json,
  });
  const validator = createValidator();
  const models = createModelPlaces(config);
  const slots = {
    models: models.slots,
    testStarts: createSlots(TEST_START_SLOTS),
    verdicts: createSlots(VERDICT_SLOTS),
  };
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
    providerUrls: config.providerUrls,
    encryption: createEncryption(config.secretsKeys),
    requestModelKeys: deps.requestModelKeys,
    inProcessRuns: deps.inProcessRuns ?? createInProcessRuns(),
    enterPlace: deps.enterPlace,
    modelTurns: models.turns,
    slots,
    cancellations: deps.cancellations,
    fastModelMs: deps.fastModelMs,
  });
  const callsMax = models.underWayMax + models.waitingMax;
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
    // All that can be at work here at once. Runs that wait longer are the first to leave memory.
    maxCachedWorkflows: WORKFLOW_TASKS_MAX + callsMax,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_MAX,
    maxConcurrentLocalActivityExecutions: LOCAL_ACTIVITIES_MAX,
    maxConcurrentActivityTaskExecutions: callsMax + TESTS_MAX + BRIEF_SLOTS,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
  });
  const shutdown = () => {
    // Another worker takes the blocks that wait here.
    const stops = workerShutdown('The worker stopped before the turn of this block came.');
    sandbox.drain(stops);
    models.turns.close(stops);
    shutDown(worker);
    setTimeout(deps.cancellations.drain, BLOCKS_GRACE_MS).unref();
  };
  return {
    isPolling: () => isPolling(worker),
    async run() {
      const stopMeasuring = observeTurns({ model_calls: models.turns, model_slots: slots.models });
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
