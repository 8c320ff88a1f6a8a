// Workers die again and again under what a run does inside its workflow task, which goes with the worker.

import assert from 'node:assert/strict';
import { requestUnpark } from '../../db/runs/parked-runs.ts';
import { PARK_SIGNAL } from '../../flow/run.ts';
import { parkRunsLosingWorkers } from '../../worker/duties/park-runs-losing-workers.ts';
import { unparkRequestedRuns } from '../../worker/duties/unpark-requested-runs.ts';
import { code, passthrough } from '../blocks.ts';
import { listStuck } from '../cli/operator/list-stuck.ts';
import { endLockWaiters, keepLocks, lockWaiters } from '../db/lock-waiters.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { startWithTaskTimeout } from '../start-with-task-timeout.ts';
import { waitUntil } from '../wait-until.ts';
import { startProgram } from './processes.ts';

/** The engine reports a run's problems from here on. */
const LOSSES = 5;
/** Each is found out when the time of the workflow task is over, which grows. */
const TIMEOUT_MS = 600_000;

describe('a run whose workers are lost under a block in its workflow task', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('keep'), code('last', 'return message;')]);
  });
  after(() => weir.stop());

  const start = () => startWithTaskTimeout(weir, tenant, flow, '4 seconds');

  /** Its workflow task: `begun` until it has turned out that it was lost. */
  async function taskOf(executionId: string): Promise<{ attempt: number; begun: boolean }> {
    const { raw } = await weir.client.workflow.getHandle(executionId).describe();
    const { attempt, startedTime } = raw.pendingWorkflowTask ?? {};
    return { attempt: attempt ?? 0, begun: !!startedTime };
  }
  async function runAnother(): Promise<void> {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    const { status } = (await weir.finish(flow, body.executionId, tenant.key)).body;
    assert.equal(status, 'completed');
  }
  async function hasParkSignal(executionId: string): Promise<boolean> {
    const { events } = await weir.client.workflow.getHandle(executionId).fetchHistory();
    return !!events?.some(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName === PARK_SIGNAL,
    );
  }
  const look = () =>
    parkRunsLosingWorkers({ client: weir.client, taskQueue: weir.config.taskQueue }, undefined, LOSSES);
  const row = (executionId: string) =>
    weir.db
      .selectFrom('run')
      .select(['status', 'parked_at'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();

  it('is parked in the end, others go on meanwhile, and it goes on when an operator asks', async () => {
    const executionId = await start();
    // Its block can't be recorded for now, and kills its worker there.
    await weir.db.transaction().execute(async (lock) => {
      await keepLocks(lock);
      await lock
        .selectFrom('run')
        .select('status')
        .where('execution_id', '=', executionId)
        .forUpdate()
        .execute();
      let losses = 0;
      for (let attempt = 1; attempt <= LOSSES; ) {
        const worker = await startProgram(weir, 'worker/worker.ts');
        // It waits to record the block.
        await lockWaiters(weir.db, 1);
        if (losses++ === 0) await runAnother();
        await worker.kill();
        await endLockWaiters(weir.db);
        await look();
        const isParked = await hasParkSignal(executionId);
        // On a busy machine, more of its workers are lost than this kills.
        const { attempt: reached } = await taskOf(executionId);
        assert(!isParked || reached > LOSSES, 'too early');
        ({ attempt } = await waitUntil(async () => {
          const task = await taskOf(executionId);
          return !task.begun && task;
        }));
      }
    });
    await waitUntil(async () => {
      await look();
      return hasParkSignal(executionId);
    });
    assert.deepEqual(await listStuck(weir), { [executionId]: 'loses workers' });
    await weir.startWorker();
    await waitUntil(async () => (await row(executionId)).parked_at);
    assert.equal((await row(executionId)).status, 'started');
    assert.equal((await requestUnpark(weir.db, executionId)).length, 1);
    await unparkRequestedRuns(weir);
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
  }).timeout(TIMEOUT_MS);
});
