import { randomUUID } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { createAnnouncements } from '../activities/announce-calls.ts';
import { createHeldModelCalls } from '../activities/held-model-calls.ts';
import { createSlots } from '../activities/in-slot.ts';
import { createActivities } from '../activities/index.ts';
import { workerShutdown } from '../activities/is-drained.ts';
import { createTakeOverActivities } from '../activities/model-activities.ts';
import { HEARTBEAT_INTERVAL_MS } from '../activities/run-attempt.ts';
import { createSandbox } from '../activities/sandbox/sandbox.ts';
import { createEncryption } from '../db/encrypt.ts';
import { createInProcessRuns } from '../db/runs/in-process-runs.ts';
import { createEngineProbe } from '../engine/create-engine-probe.ts';
import { createDataConverter } from '../engine/data-converter.ts';
import { createOwnerLimit } from '../fairness/owner-limit.ts';
import { createTurns } from '../fairness/turns.ts';
import { blockTaskQueue } from '../flow/run.ts';
import { createValidator } from '../json-schema/validator.ts';
import { observeTurns } from '../observability/metrics/sharing-metrics.ts';
import { encodeFailures } from './encode-failures.ts';
import { isPolling } from './is-polling.ts';
import type { QueueWorker } from './queue-worker.ts';
import { createRunSinks } from './run-sinks.ts';
import { shutDown } from './shut-down.ts';
import { createTraceSinks, traceActivities } from './trace-activities.ts';
import type { WorkerDeps } from './worker-deps.ts';
import { workerVersion } from './worker-version.ts';

/**
 * Workflow tasks at a time, and local activities in them. Model calls hold at most 128 of each (activities/held-model-calls.ts),
 * so that other blocks never wait for a model.
 */
const WORKFLOW_TASKS_MAX = 200;
const LOCAL_ACTIVITIES_MAX = 300;
/** Blocks that may wait for their turn in one worker; the others go back to Temporal (activities/in-slot.ts). */
const WAITING_BLOCKS_MAX = 500;
/** The slots for these: of one organization, and further ones for organizations that have few. */
const BLOCK_SLOTS = { places: 400, reserve: 100, few: 8 };
/** Model calls that may wait likewise, beside those under way. */
const WAITING_CALLS = { places: 200, reserve: 50, few: 8 };
const WAITING_CALLS_MAX = WAITING_CALLS.places + WAITING_CALLS.reserve;
/** Model calls of organizations that have few under way: this part more than one organization may have, and at least so many. */
const MODEL_RESERVE = { part: 1 / 4, min: 4, few: 3 };
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
  const { config, db, connection, workflowBundle, registry } = deps;
  const sandbox = createSandbox({
    processes: config.sandboxProcesses,
    reserve: config.sandboxReserve,
    largeJson: deps.largeValues.json,
  });
  const validator = createValidator();
  const inProcessRuns = deps.inProcessRuns ?? createInProcessRuns();
  const namespace = config.temporal.namespace;
  const callsQueue = `${config.taskQueue}-calls-${randomUUID()}`;
  const isEngineAway = createEngineProbe(deps.client, namespace, callsQueue);
  const heldModelCalls = createHeldModelCalls({
    taskQueue: callsQueue,
    isEngineAway,
    announcements: createAnnouncements(db),
  });
  const reserve = Math.max(MODEL_RESERVE.min, Math.ceil(config.modelConcurrency * MODEL_RESERVE.part));
  const few = Math.min(MODEL_RESERVE.few, config.modelConcurrency);
  const modelCallsMax = config.modelConcurrency + reserve;
  const modelTurns = createTurns({ places: config.modelConcurrency, reserve, few });
  const slots = {
    models: createSlots({
      places: config.modelConcurrency + WAITING_CALLS.places,
      reserve: reserve + WAITING_CALLS.reserve,
      few: WAITING_CALLS.few,
    }),
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
    providerUrls: config.providerUrls,
    encryption: createEncryption(config.secretsKeys),
    requestModelKeys: deps.requestModelKeys,
    inProcessRuns,
    enterPlace: deps.enterPlace,
    modelTurns,
    slots,
    heldModelCalls,
    inTaskTimes: deps.inTaskTimes,
  });
  const options = {
    connection,
    namespace,
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
      maxCachedWorkflows: WORKFLOW_TASKS_MAX + modelCallsMax + WAITING_CALLS_MAX + WAITING_BLOCKS_MAX,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_MAX,
      maxConcurrentLocalActivityExecutions: LOCAL_ACTIVITIES_MAX,
      maxConcurrentActivityTaskExecutions: modelCallsMax + WAITING_CALLS_MAX + TESTS_MAX + BRIEF_SLOTS,
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
    activities: createTakeOverActivities({ heldModelCalls, db }),
    taskQueue: heldModelCalls.taskQueue,
    // Calls that have left their workflow tasks hold a place, or are about to.
    maxConcurrentActivityTaskExecutions: modelCallsMax + WORKFLOW_TASKS_MAX,
    maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
  });
  const shutdown = () => {
    // Another worker takes the blocks that wait here.
    const stops = workerShutdown('The worker stopped before the turn of this block came.');
    sandbox.drain(stops);
    modelTurns.close(stops);
    for (const worker of workers) shutDown(worker);
    // Calls under way are still handed over from workflow tasks to activities of this process.
    void heldModelCalls.drain().then(() => shutDown(takingOver));
  };
  return {
    isPolling: () => [...workers, takingOver].every(isPolling),
    async run() {
      const stopMeasuring = observeTurns({
        model_calls: modelTurns,
        model_slots: slots.models,
        block_slots: slots.blocks,
      });
      // When one of the workers ends, the others do too.
      const all = [...workers, takingOver];
      const ends = await Promise.allSettled(all.map((worker) => worker.run().finally(shutdown)));
      stopMeasuring();
      await Promise.all([sandbox.close(), validator.close()]);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
    shutdown,
  };
}
