// Workers die again and again under a block that takes so long that each loss is the engine's first: the block goes on as an
// activity of the task queue of blocks that wait, where it is delayed and, in the full size, parked in the end.
import assert from 'node:assert/strict';
import { blockTaskQueue } from '../../flow/run.ts';
import { code, passthrough } from '../blocks.ts';
import { weirIn } from '../cli/cli-harness.ts';
import { countLockWaiters, endLockWaiters, keepLocks } from '../db/lock-waiters.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { startWithTaskTimeout } from '../start-with-task-timeout.ts';
import { waitUntil } from '../wait-until.ts';
import { startProgram } from './processes.ts';
import { faultSize } from './sizes.ts';

/** From here on the block leaves its workflow task. */
const LOST_IN_TASK_MAX = 3;
/** Enough to be parked. Each is found out after 25 s without a heartbeat. */
const LOST_UNTIL_PARKED = 12;
const LOST_AS_ACTIVITY = faultSize(1, LOST_UNTIL_PARKED);
const PARKED = LOST_AS_ACTIVITY === LOST_UNTIL_PARKED;
const TIMEOUT_MS = faultSize(600, 1_800) * 1_000;
const SCHEDULED = 1;
const STARTED = 2;

describe('a run whose workers are lost under a block that takes long', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('keep'), code('last', 'return message;')]);
  });
  after(() => weir.stop());

  const row = (executionId: string) =>
    weir.db
      .selectFrom('run')
      .select(['status', 'parked_at'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();

  /** Kills the worker and what it has asked of the database, which would be carried out without it. */
  async function lose(worker: { kill(): Promise<void> }): Promise<void> {
    await worker.kill();
    await endLockWaiters(weir.db);
  }

  async function pendingActivity(executionId: string) {
    const { raw } = await weir.client.workflow.getHandle(executionId).describe();
    return raw.pendingActivities?.[0];
  }

  async function listEvents(executionId: string) {
    const { events } = await weir.client.workflow.getHandle(executionId).fetchHistory();
    return events ?? [];
  }
  /** Counts the workflow tasks that were completed; one that is renewed is. */
  const countTasks = async (executionId: string) =>
    (await listEvents(executionId)).filter((event) => event.workflowTaskCompletedEventAttributes).length;
  const countLostTasks = async (executionId: string) =>
    (await listEvents(executionId)).filter((event) => event.workflowTaskTimedOutEventAttributes).length;

  /**
   * Waits until the block is an activity, and answers true, or waits to be recorded in a workflow task that was renewed, so
   * that the engine forgets how often it was lost.
   */
  async function leavesTask(executionId: string, tasksBefore: number): Promise<boolean> {
    const { leaves } = await waitUntil(async () => {
      if (await pendingActivity(executionId)) return { leaves: true };
      const isRenewed = (await countTasks(executionId)) > tasksBefore;
      return isRenewed && (await countLockWaiters(weir.db)) > 0 && { leaves: false };
    });
    return leaves;
  }

  /** Begins a delayed attempt now instead of in up to half an hour; it keeps its number. */
  async function skipDelay(executionId: string, id: string): Promise<void> {
    const { workflowService, options } = weir.client;
    const request = { namespace: options.namespace, execution: { workflowId: executionId }, id };
    await workflowService.pauseActivity({ ...request, identity: 'test', reason: 'the delay is skipped' });
    await workflowService.unpauseActivity({ ...request, identity: 'test' });
  }

  /** Waits until an attempt of the activity waits to record the block; skips a delay before it. */
  const waitingAsActivity = (executionId: string) =>
    waitUntil(async () => {
      const pending = await pendingActivity(executionId);
      if (pending?.state === SCHEDULED && pending.lastFailure?.applicationFailureInfo?.type === 'HELD_BACK')
        await skipDelay(executionId, pending.activityId as string);
      return pending?.state === STARTED && (await countLockWaiters(weir.db)) > 0;
    });

  async function loseWorkers(executionId: string): Promise<void> {
    let tasks = await countTasks(executionId);
    let worker = await startProgram(weir, 'worker/worker.ts');
    let losses = 0;
    for (; !(await leavesTask(executionId, tasks)); losses += 1) {
      const lost = await countLostTasks(executionId);
      await lose(worker);
      await waitUntil(async () => (await countLostTasks(executionId)) > lost);
      tasks = await countTasks(executionId);
      worker = await startProgram(weir, 'worker/worker.ts');
    }
    assert(losses > 0 && losses <= LOST_IN_TASK_MAX, `${losses}`);
    for (losses = 1; ; losses += 1) {
      await waitingAsActivity(executionId);
      await lose(worker);
      if (losses === LOST_AS_ACTIVITY) return;
      worker = await startProgram(weir, 'worker/worker.ts');
    }
  }

  async function resumeParked(executionId: string): Promise<void> {
    await waitUntil(async () => (await row(executionId)).parked_at);
    assert.equal((await row(executionId)).status, 'started');
    const env = {
      DATABASE_URL: weir.config.databaseUrl,
      WEIR_API_KEY_PEPPER: weir.config.apiKeyPepper,
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS as string,
      WEIR_TASK_QUEUE: weir.config.taskQueue,
    };
    const { code: exitCode, stderr } = await weirIn(env, ['operator', 'runs', 'resume', executionId]);
    assert.equal(exitCode, 0, stderr);
  }

  const rule = PARKED
    ? 'is delayed, parked in the end, and goes on when an operator asks'
    : 'goes on as an activity of the task queue of blocks that wait';
  it(rule, async () => {
    const executionId = await startWithTaskTimeout(weir, tenant, flow, '4 seconds');
    // Its block can't be recorded for now, and kills its worker there.
    await weir.db.transaction().execute(async (lock) => {
      await keepLocks(lock);
      await lock
        .selectFrom('run')
        .select('status')
        .where('execution_id', '=', executionId)
        .forUpdate()
        .execute();
      await loseWorkers(executionId);
    });
    const queues = (await listEvents(executionId)).flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.taskQueue?.name ?? [],
    );
    assert.deepEqual(queues, [blockTaskQueue(weir.config.taskQueue)]);
    await weir.startWorker();
    if (PARKED) await resumeParked(executionId);
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
    const blocks = await weir.db
      .selectFrom('block_run')
      .select(['block_key', 'status'])
      .where('execution_id', '=', executionId)
      .orderBy('block_key')
      .execute();
    assert.deepEqual(
      blocks.map(({ block_key, status }) => `${block_key} ${status}`),
      ['keep completed', 'last completed'],
    );
  }).timeout(TIMEOUT_MS);
});
