import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { requestUnpark } from '../../db/runs/parked-runs.ts';
import { toPlan } from '../../flow/plan.ts';
import { PARK_SIGNAL, RUN_FLOW, UNPARK_SIGNAL } from '../../flow/run.ts';
import { reconcileParked } from '../../worker/duties/reconcile-parked.ts';
import { unparkRequestedRuns } from '../../worker/duties/unpark-requested-runs.ts';
import type { runFlow } from '../../workflows/run-flow.ts';
import { acceptRun } from '../accept-run.ts';
import { assertCancelled } from '../api/runs/jobs-harness.ts';
import { llm, passthrough } from '../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { startParkingWorker } from '../parking-worker.ts';
import { waitUntil } from '../wait-until.ts';

const PARKS = 2;

describe('a run under which workers are lost again and again', () => {
  let weir: Weir;
  let tenant: Tenant;
  let worker: Awaited<ReturnType<typeof startParkingWorker>>;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    worker = await startParkingWorker(weir, PARKS);
    flow = await weir.createFlow(tenant, [
      {
        type: 'parallel',
        step_id: 'p',
        name: 'p',
        branches: { a: [llm('a', 'x', 'demo/chat')], b: [llm('b', 'x', 'demo/chat')] },
      },
    ]);
  });
  after(async () => {
    await worker.stop();
    await weir.stop();
  });

  async function start(): Promise<string> {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    return body.executionId;
  }
  const read = async (executionId: string) =>
    (await weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key })).body;
  const row = (executionId: string) =>
    weir.db
      .selectFrom('run')
      .select(['status', 'parked_at', 'resume_requested_at'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
  async function parked(executionId: string): Promise<void> {
    await waitUntil(async () => (await row(executionId)).parked_at);
  }
  async function outcome(executionId: string): Promise<unknown> {
    const { typedSearchAttributes } = await weir.client.workflow.getHandle(executionId).describe();
    return typedSearchAttributes.get({ name: 'WeirOutcome', type: 'KEYWORD' });
  }

  it('is parked: still under way for its caller, found by its outcome, and goes on as often as an operator asks', async () => {
    const executionId = await start();
    await parked(executionId);
    await waitUntil(async () => (await outcome(executionId)) === 'parked');
    await unparkRequestedRuns(weir);
    assert.equal((await read(executionId)).status, 'started', 'nobody has asked yet');
    let asked = 0;
    for (let run = await row(executionId); run.status === 'started'; run = await row(executionId)) {
      if (run.parked_at && !run.resume_requested_at)
        asked += (await requestUnpark(weir.db, executionId)).length;
      await unparkRequestedRuns(weir);
      await setTimeout(50);
    }
    assert(asked >= PARKS, `${asked}`);
    const { body } = await weir.finish(flow, executionId, tenant.key);
    assert.deepEqual([body.status, body.result], ['completed', { a: 'm', b: 'm' }]);
    await weir.client.workflow.getHandle(executionId).result();
    assert.equal(await outcome(executionId), undefined, 'no longer parked');
    assert.equal((await requestUnpark(weir.db, 'all')).length, 0);
  });

  it('can be cancelled while it is parked', async () => {
    const executionId = await start();
    await parked(executionId);
    await weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: tenant.key });
    assertCancelled((await weir.finish(flow, executionId, tenant.key)).body);
    assert.equal((await requestUnpark(weir.db, executionId)).length, 0);
  });

  describe('whose workflow is parked as before, in an engine that was set back', () => {
    /** Starts a run, waits until it is parked, and changes its row to what it is later. */
    async function startAndChange(change: { parked_at: null; status?: 'completed'; finished_at?: Date }) {
      const executionId = await start();
      await parked(executionId);
      await waitUntil(async () => (await outcome(executionId)) === 'parked');
      await weir.db.updateTable('run').set(change).where('execution_id', '=', executionId).execute();
      return { executionId, workflow: weir.client.workflow.getHandle(executionId) };
    }
    const reconcile = () => reconcileParked({ ...weir, taskQueue: weir.config.taskQueue });

    it('is parked in its row again when it had been unparked', async () => {
      const { executionId } = await startAndChange({ parked_at: null });
      await waitUntil(async () => {
        await reconcile();
        return (await row(executionId)).parked_at;
      });
      while ((await row(executionId)).status === 'started') {
        await requestUnpark(weir.db, executionId);
        await unparkRequestedRuns(weir);
        await setTimeout(50);
      }
      assert.equal((await row(executionId)).status, 'completed');
    });

    it('ends when it had ended, and its row stays as it was', async () => {
      const ended = { parked_at: null, status: 'completed', finished_at: new Date() } as const;
      const { executionId, workflow } = await startAndChange(ended);
      await waitUntil(async () => {
        await reconcile();
        return (await workflow.describe()).status.name !== 'RUNNING';
      });
      const { parked_at, status } = await row(executionId);
      assert.deepEqual({ parked_at, status }, { parked_at: null, status: 'completed' });
    });

    it('is left alone while its workflow has work to do, which may be that it goes on', async () => {
      const { executionId, workflow } = await startAndChange({ parked_at: null });
      await waitUntil(async () => {
        const query = `WorkflowId = '${executionId}' and WeirOutcome = 'parked'`;
        return (await weir.client.workflow.count(query)).count;
      });
      await worker.stop();
      await workflow.signal(UNPARK_SIGNAL);
      await reconcile();
      assert.equal((await row(executionId)).parked_at, null);
      worker = await startParkingWorker(weir, 0);
      const { body } = await weir.finish(flow, executionId, tenant.key);
      assert.equal(body.status, 'completed');
    });
  });

  describe('in its workflow task, when it is told to park', () => {
    let local: string;
    before(async () => {
      local = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
    });

    /** Told to park before its workflow begins. */
    async function startWithParkSignal(): Promise<string> {
      const { executionId, definition } = await acceptRun(weir, tenant, local);
      await weir.client.workflow.signalWithStart<typeof runFlow>(RUN_FLOW, {
        workflowId: executionId,
        taskQueue: weir.config.taskQueue,
        args: [{ executionId, steps: toPlan(definition.steps) }],
        signal: PARK_SIGNAL,
      });
      await parked(executionId);
      const blocks = await weir.db
        .selectFrom('block_run')
        .select('block_key')
        .where('execution_id', '=', executionId)
        .execute();
      assert.deepEqual(blocks, [], 'none is run');
      return executionId;
    }

    it('is parked before the next block, and goes on when an operator asks', async () => {
      const executionId = await startWithParkSignal();
      await waitUntil(async () => (await outcome(executionId)) === 'parked');
      assert.equal((await requestUnpark(weir.db, executionId)).length, 1);
      await unparkRequestedRuns(weir);
      assert.equal((await weir.finish(local, executionId, tenant.key)).body.status, 'completed');
      await weir.client.workflow.getHandle(executionId).result();
      assert.equal(await outcome(executionId), undefined, 'no longer parked');
    });

    it('can be cancelled', async () => {
      const executionId = await startWithParkSignal();
      await weir.call('POST', `${local}/jobs/${executionId}/cancel`, { key: tenant.key });
      assertCancelled((await weir.finish(local, executionId, tenant.key)).body);
    });
  });

  it('goes on although it has left memory meanwhile', async () => {
    await worker.stop();
    worker = await startParkingWorker(weir, 1, 2);
    const one = await weir.createFlow(tenant, [llm('only', 'x', 'demo/chat')]);
    const started = await Promise.all(
      Array.from({ length: 5 }, () =>
        weir.call('POST', `${one}/jobs`, { key: tenant.key, body: { message: 'm' } }),
      ),
    );
    const ids: string[] = started.map(({ body }) => body.executionId);
    for (const id of ids) await parked(id);
    assert.equal((await requestUnpark(weir.db, 'all')).length, ids.length);
    await unparkRequestedRuns(weir);
    for (const id of ids) {
      const { body } = await weir.finish(one, id, tenant.key);
      assert.deepEqual([body.status, body.result], ['completed', 'm']);
    }
  });
});
