// A cancellation that meets the start of its run, an engine that is away, or a charge.
import assert from 'node:assert/strict';
import { WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import type { Tx } from '../../../db/connect.ts';
import { recordBlockRun } from '../../../db/runs/block-runs.ts';
import { requestCancel } from '../../../db/runs/run-cancellation.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { CANCELLED } from '../../../flow/run.ts';
import { startRun } from '../../../temporal/start-run.ts';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { acceptRun } from '../../accept-run.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { lockBalance } from '../../db/credits/ledger-fixture.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { answer } from '../../fakes/model-server.ts';
import { firstTaskStarted } from './first-task-started.ts';
import { assertCancelled, type JobsWeir, startJobsWeir } from './jobs-harness.ts';

describe('POST …/jobs/{executionId}/cancel', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  const look = () => reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);

  it('answers 200 for a run that completes at that moment, and leaves it as it is', async () => {
    const flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
    const { executionId } = await acceptRun(weir, weir.tenant, flow);
    const complete = (tx: Tx) =>
      tx
        .updateTable('run')
        .set({ status: 'completed', result: JSON.stringify({ json: 'm' }), finished_at: new Date() })
        .where('execution_id', '=', executionId)
        .execute();
    const { status, body } = await duringTransaction(weir.db, complete, () => weir.cancel(flow, executionId));
    assert.deepEqual([status, body.status], [200, 'completed']);
  });

  it('ends a run whose workflow was not started yet at once, and none of its blocks runs later', async () => {
    const flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
    const { executionId, definition } = await acceptRun(weir, weir.tenant, flow);
    const { status, body } = await weir.cancel(flow, executionId);
    assert.equal(status, 202);
    assertCancelled(body);
    await look();
    await assert.rejects(weir.client.workflow.getHandle(executionId).describe(), WorkflowNotFoundError);

    // An API process that was about to start it.
    const [organization = '', project = '', slug = ''] = flow.split('/');
    const names = {
      organization,
      project,
      flow: slug,
      version: 1,
      mode: 'jobs',
      environment: 'live',
      flowVersionId: executionId,
      from: null,
      to: null,
    } as const;
    await startRun(
      { client: weir.client, taskQueue: weir.config.taskQueue },
      {
        executionId,
        callId: executionId,
        definition,
        ...names,
      },
    );
    await assert.rejects(weir.client.workflow.getHandle(executionId).result());
    const late = (await weir.read(flow, executionId)).body;
    assertCancelled(late);
    assert.deepEqual(late.blocks, []);
  });

  /** Marks a run as cancelled without the trigger that notifies workers: one of them would end the run at once. */
  const markCancelled = (executionId: string) =>
    weir.db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await requestCancel(tx, executionId);
    });

  describe('while the engine is away', () => {
    it('has the reconciler end a run without a workflow', async () => {
      const flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
      const { executionId } = await acceptRun(weir, weir.tenant, flow);
      await markCancelled(executionId);
      await look();
      assertCancelled((await weir.read(flow, executionId)).body);
      await assert.rejects(weir.client.workflow.getHandle(executionId).describe(), WorkflowNotFoundError);
    });

    it('has the reconciler cancel a workflow that runs', async () => {
      const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
      const { executionId } = await weir.startHeld(flow);
      await markCancelled(executionId);
      await look();
      assertCancelled((await weir.finish(flow, executionId, weir.tenant.key)).body);
    });

    it('charges nothing for an answer that arrives after the cancellation, and the run ends', async () => {
      const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat'), passthrough('after')]);
      const { executionId, response } = await weir.startHeld(flow);
      await markCancelled(executionId);
      answer('late')(response);
      const { body } = await weir.finish(flow, executionId, weir.tenant.key);
      assertCancelled(body);
      assert.equal(body.cost, 0);
      assert.equal(await weir.charges(executionId), 0);
    });
  });

  it('lets a charge that is being written end first', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    const { executionId } = await acceptRun(weir, weir.tenant, flow);
    const block = {
      callId: executionId,
      stepId: 'ask',
      name: 'ask',
      processorType: 'llm',
      input: { ref: '$message' },
      output: '"x"',
      costMicrocredits: 5,
      attempts: 1,
      startedAt: performance.now(),
    } as const;
    const record = (blockKey: string) => recordBlockRun(weir.db, weir.tenant, { ...block, blockKey });
    // Whoever holds the balance holds up the charge, which holds up the cancellation.
    const { charging, cancelling } = await weir.db.transaction().execute(async (tx) => {
      await lockBalance(tx, weir.tenant);
      const charging = record('at');
      await lockWaiters(weir.db, 1);
      const cancelling = requestCancel(weir.db, executionId);
      await lockWaiters(weir.db, 2);
      return { charging, cancelling };
    });
    assert.equal(await charging, true);
    await cancelling;
    await assert.rejects(record('after'), { code: 'CANCELLED' });
    const { body } = await weir.read(flow, executionId);
    assert.equal(body.blocks.length, 1);
    assert.equal(body.blocks.length, await weir.charges(executionId));
  });

  describe('while the last block ends', () => {
    const outcome = { status: 'completed', result: { ref: 'a' } } as const;
    /** Accepts a job that reports both events, and answers how to read those recorded. */
    async function acceptReported() {
      const flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
      const callback = { url: 'https://hook.test/', events: ['flow.completed', 'flow.failed'] } as const;
      const { executionId } = await acceptRun(weir, weir.tenant, flow, {
        callback: { url: callback.url, events: [...callback.events] },
      });
      const events = async () => {
        const rows = await weir.db
          .selectFrom('webhook_delivery')
          .select('event_type')
          .where('execution_id', '=', executionId)
          .execute();
        return rows.map((row) => row.event_type);
      };
      return { flow, executionId, events };
    }

    for (const processorType of ['code', 'passthrough'] as const)
      it(`is not followed by flow.completed: a ${processorType} block`, async () => {
        const { flow, executionId, events } = await acceptReported();
        await markCancelled(executionId);
        const row = {
          callId: executionId,
          blockKey: 'a',
          stepId: 'a',
          name: 'a',
          processorType,
          input: { ref: '$message' },
          output: '"done"',
          attempts: 1,
          startedAt: performance.now(),
        };
        const recording = recordBlockRun(weir.db, weir.tenant, row, outcome.result);
        await assert.rejects(recording, { code: 'CANCELLED' });
        assert.deepEqual(await events(), []);
        await finishRun(weir.db, executionId, { status: 'failed', error: CANCELLED });
        assert.deepEqual(await events(), ['flow.failed']);
        assertCancelled((await weir.read(flow, executionId)).body);
      });

    it('is not followed by flow.completed: a step of several blocks', async () => {
      const { flow, executionId, events } = await acceptReported();
      await markCancelled(executionId);
      assert.equal((await finishRun(weir.db, executionId, outcome))?.status, 'failed');
      assert.equal(await finishRun(weir.db, executionId, outcome), undefined);
      assert.deepEqual(await events(), ['flow.failed']);
      assertCancelled((await weir.read(flow, executionId)).body);
    });

    for (const [how, last] of [
      ['answers', 'return 1;'],
      ['fails', 'throw new Error("late");'],
    ] as const)
      it(`ends a run as cancelled whose short code was running and ${how}`, async () => {
        for (const ms of [700, 1_400, 2_800, 5_600]) {
          const flow = await weir.createFlow(weir.tenant, [
            code('short', `for (const end = Date.now() + ${ms}; Date.now() < end;); ${last}`),
          ]);
          const executionId = await weir.start(flow);
          await firstTaskStarted(weir, executionId);
          const { status } = await weir.cancel(flow, executionId);
          const { body } = await weir.finish(flow, executionId, weir.tenant.key);
          if (status === 202) return assertCancelled(body);
          assert.equal(status, 200);
        }
        assert.fail('Each run had ended before it was cancelled.');
      });
  });
});
