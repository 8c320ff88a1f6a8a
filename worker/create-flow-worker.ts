import { randomUUID } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { createAnnouncements } from '../activities/announcements.ts';
import { createSlots } from '../activities/attempts/in-slot.ts';
import { HEARTBEAT_INTERVAL_MS } from '../activities/attempts/run-attempt.ts';
import { workerShutdown } from '../activities/attempts/worker-shutdown.ts';
import { createSandbox } from '../activities/code/sandbox.ts';
import { createHeldModelCalls } from '../activities/held-model-calls.ts';
import { createInProcessRuns, type InProcessRuns } from '../activities/in-process-runs.ts';
import { createActivities } from '../activities/index.ts';
import { createProviderOutages } from '../activities/model/provider-outages.ts';
import { createTakeOverActivities } from '../activities/model-activities.ts';
import { blockTaskQueue } from '../flow/run.ts';
import { createValidator } from '../platform/json-schema/validator.ts';
import { createOwnerLimit } from '../platform/limits/owner-limit.ts';
import { observeTurns } from '../platform/observability/metrics/sharing-metrics.ts';
import { BLOCKS_GRACE_MS } from '../platform/process/end-times.ts';
import { createEncryption } from '../platform/secrets/encrypt.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { createEngineProbe } from '../temporal/list-pollers.ts';
import { createModelPlaces } from './create-model-places.ts';
import { encodeFailures, isPolling, type QueueWorker, shutDown, workerVersion } from './queue-worker.ts';
import { createRunSinks } from './run-sinks.ts';
import { createTraceSinks, traceActivities } from './trace-activities.ts';
import type { WorkerDeps } from './worker-deps.ts';

/**
 * Workflow tasks at a time, and local activities in them. Model calls hold at most 128 of each (activities/held-model-calls.ts),
 * so that other blocks never wait for a model.
 */
const WORKFLOW_TASKS_MAX = 200;
const LOCAL_ACTIVITIES_MAX = 300;
/** Blocks that may wait for their turn in one worker; the others go back to Temporal (activities/attempts/in-slot.ts). */
const WAITING_BLOCKS_MAX = 500;
/** The slots for these: of one organization, and further ones for organizations that have few. */
const BLOCK_SLOTS = { places: 400, reserve: 100, few: 8 };
/** The slots for the verdicts on test cases, which wait for memory and for a thread that checks the answer's schema. */
const VERDICT_SLOTS = { places: 16, reserve: 4, few: 1 };
/** The slots for test cases whose runs wait for their organization's turn to begin. */
const TEST_START_SLOTS = { places: 8, reserve: 4, few: 1 };
const TESTS_MAX =
  VERDICT_SLOTS.places + VERDICT_SLOTS.reserve + TEST_START_SLOTS.places + TEST_START_SLOTS.reserve;
/** Slots that activities hold for an instant, when they are turned away. */
const BRIEF_SLOTS = 20;
/**
 * Statements on one organization's balance that wait for each other in the database: while the answer of one is on its way,
 * the database works on the next. The other connections are for other organizations.
 */
export const BALANCE_STATEMENTS_MAX = 4;

/** Creates a worker for flow runs on `connection`, and for blocks of them that wait for their turn. */
export async function createFlowWorker(deps: WorkerDeps): Promise<QueueWorker> {
  const { config, db, registry } = deps;
  const sandbox = createSandbox({
    processes: config.sandboxProcesses,
    reserve: config.sandboxReserve,
    largeJson: deps.largeValues.json,
  });
  const validator = createValidator();
  const inProcessRuns = deps.inProcessRuns ?? createInProcessRuns();
  const callsQueue = `${config.taskQueue}-calls-${randomUUID()}`;
  const isEngineAway = createEngineProbe(deps.client, config.temporal.namespace, callsQueue);
  const heldModelCalls = createHeldModelCalls({
    taskQueue: callsQueue,
    isEngineAway,
    announcements: createAnnouncements(db),
  });
  const models = createModelPlaces(config);
  const slots = {
    models: models.slots,
    blocks: createSlots(BLOCK_SLOTS),
    testStarts: createSlots(TEST_START_SLOTS),
    verdicts: createSlots(VERDICT_SLOTS),
  };
  const activities = createActivities({
    db,
    definitions: deps.definitions,
    balanceLimit: createOwnerLimit(BALANCE_STATEMENTS_MAX),
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
    inProcessRuns,
    enterPlace: deps.enterPlace,
    modelTurns: models.turns,
    slots,
    heldModelCalls,
    inTaskTimes: deps.inTaskTimes,
  });
  const { shared, takingOver } = await createWorkers(deps, {
    activities,
    takeOverActivities: createTakeOverActivities({ heldModelCalls, db }),
    takeOverQueue: heldModelCalls.taskQueue,
    inProcessRuns,
    models,
  });
  const shutdown = () => {
    // Another worker takes the blocks that wait here.
    const stops = workerShutdown('The worker stopped before the turn of this block came.');
    sandbox.drain(stops);
    models.turns.close(stops);
    for (const worker of shared) shutDown(worker);
    // Calls under way are still handed over from workflow tasks to activities of this process.
    void heldModelCalls.drain().then(() => shutDown(takingOver));
  };
  return {
    isPolling: () => [...shared, takingOver].every(isPolling),
    async run() {
      const stopMeasuring = observeTurns({
        model_calls: models.turns,
        model_slots: slots.models,
        block_slots: slots.blocks,
      });
      // When one of the workers ends, the others do too.
      const all = [...shared, takingOver];
      const ends = await Promise.allSettled(all.map((worker) => worker.run().finally(shutdown)));
      stopMeasuring();
      await Promise.all([sandbox.close(), validator.close()]);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
    shutdown,
  };
}

type Work = {
  activities: ReturnType<typeof createActivities>;
  takeOverActivities: ReturnType<typeof createTakeOverActivities>;
  takeOverQueue: string;
  inProcessRuns: InProcessRuns;
  models: ReturnType<typeof createModelPlaces>;
};

/**
 * Creates the workers of one process: `shared` are those of task queues that other processes poll too, `takingOver` is that of
 * the process's own model calls.
 */
async function createWorkers(
  { config, connection, workflowBundle }: WorkerDeps,
  { activities, takeOverActivities, takeOverQueue, inProcessRuns, models }: Work,
): Promise<{ shared: Worker[]; takingOver: Worker }> {
  const callsMax = models.underWayMax + models.waitingMax;
  const options = {
    connection,
    namespace: config.temporal.namespace,
    interceptors: traceActivities(),
    dataConverter: createDataConverter(config),
    shutdownGraceTime: BLOCKS_GRACE_MS,
  } as const;
  // A run takes seconds, so it ends on the code that it began with.
  const version = workerVersion(config, 'PINNED');
  const shared = [
    await Worker.create({
      ...options,
      ...version,
      activities,
      taskQueue: config.taskQueue,
      sinks: { ...createRunSinks(inProcessRuns), ...createTraceSinks() },
      workflowBundle: await encodeFailures(config, workflowBundle),
      // All that can be at work here at once. Runs that wait longer, as parked ones do, are the first to leave memory.
      maxCachedWorkflows: WORKFLOW_TASKS_MAX + callsMax + WAITING_BLOCKS_MAX,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_MAX,
      maxConcurrentLocalActivityExecutions: LOCAL_ACTIVITIES_MAX,
      maxConcurrentActivityTaskExecutions: callsMax + TESTS_MAX + BRIEF_SLOTS,
      // A model call learns from its heartbeat that it is cancelled.
      maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
    }),
    await Worker.create({
      ...options,
      ...version,
      activities,
      taskQueue: blockTaskQueue(config.taskQueue),
      maxConcurrentActivityTaskExecutions: WAITING_BLOCKS_MAX + BRIEF_SLOTS,
      // Many may wait, so their heartbeats should cost little.
      maxHeartbeatThrottleInterval: '10 seconds',
    }),
  ];
  // Without a version: a version has room for a hundred task queues, and this one is the process's own.
  const takingOver = await Worker.create({
    ...options,
    activities: takeOverActivities,
    taskQueue: takeOverQueue,
    // Calls that have left their workflow tasks hold a place, or are about to.
    maxConcurrentActivityTaskExecutions: models.underWayMax + WORKFLOW_TASKS_MAX,
    maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
  });
  return { shared, takingOver };
}
