import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { acceptRun } from '../../accept-run.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { hang } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { firstTaskStarted } from './first-task-started.ts';
import { assertCancelled, type JobsWeir, startJobsWeir } from './jobs-harness.ts';

describe('POST …/jobs/{executionId}/cancel', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir({ own: true });
  });
  after(() => weir.stop());

  it('aborts the model request under way, ends as failed, is recorded and charges nothing', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat'), passthrough('after')]);
    const before = weir.models.calls.length;
    const { executionId, response } = await weir.startHeld(flow);
    const closed = once(response, 'close');
    const { status, body } = await weir.cancel(flow, executionId);
    assert.equal(status, 202);
    assert.equal(body.executionId, executionId);
    const ended = await weir.finish(flow, executionId, weir.tenant.key);
    assertCancelled(ended.body);
    await closed;
    assert.equal(weir.models.calls.length, before + 1, 'the request was repeated');
    assert.equal(await weir.charges(executionId), 0);
    const { error } = await weir.db
      .selectFrom('run')
      .select('error')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.equal(error?.code, 'CANCELLED');
    // It closes after its end is recorded.
    const workflow = weir.client.workflow.getHandle(executionId);
    await assert.rejects(workflow.result());
    assert.equal((await workflow.describe()).status.name, 'FAILED');
  });

  it('is answered to whoever waits for the run', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const waiting = weir.call('POST', `${flow}/execute`, { key: weir.tenant.key, body: { message: 'm' } });
    await asked;
    const { runs } = (await weir.call('GET', `${flow}/runs`, { key: weir.tenant.key })).body;
    await weir.cancel(flow, runs[0].executionId);
    assertCancelled((await waiting).body);
  });

  it('begins no further blocks of a row of short ones, which one workflow task carries out', async () => {
    for (const ms of [100, 200, 400, 800]) {
      const short = (index: number) =>
        code(`b${index}`, `for (const end = Date.now() + ${ms}; Date.now() < end;);`);
      const steps = Array.from({ length: 30 }, (_, index) => short(index));
      const flow = await weir.createFlow(weir.tenant, steps);
      const executionId = await weir.start(flow);
      await waitUntil(async () => (await weir.read(flow, executionId)).body.blocks.length > 0);
      const { status } = await weir.cancel(flow, executionId);
      const { body } = await weir.finish(flow, executionId, weir.tenant.key);
      // On a busy machine, the row may have ended by then.
      if (status !== 202) continue;
      assertCancelled(body);
      return assert(body.blocks.length < steps.length, `${body.blocks.length} blocks`);
    }
    assert.fail('Each run had ended before it was cancelled.');
  });

  it('stops code that runs, without waiting for its time limit', async () => {
    const flow = await weir.createFlow(weir.tenant, [
      code('spin', 'for (;;);', { processor_config: { timeout_ms: 30_000 } }),
    ]);
    const executionId = await weir.start(flow);
    await firstTaskStarted(weir, executionId);
    assert.equal((await weir.cancel(flow, executionId)).status, 202);
    const { body } = await weir.finish(flow, executionId, weir.tenant.key);
    assertCancelled(body);
    const failed = body.blocks.filter((block: { status: string }) => block.status === 'failed');
    assert.deepEqual(failed, [], 'it ran into its time limit, which is recorded');
  });

  it('answers 200 and leaves the run as it is when it has ended, cancelled or not', async () => {
    const flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
    const executionId = await weir.start(flow);
    const { result, blocks, deliveries, ...ended } = (await weir.finish(flow, executionId, weir.tenant.key))
      .body;
    const { status, body } = await weir.cancel(flow, executionId);
    assert.deepEqual([status, body], [200, ended]);
    assert.equal((await weir.read(flow, executionId)).body.status, 'completed');

    const { executionId: other } = await acceptRun(weir, weir.tenant, flow);
    const first = await weir.cancel(flow, other);
    const second = await weir.cancel(flow, other);
    assert.deepEqual([first.status, second.status], [202, 200]);
    assert.deepEqual(second.body, first.body);
  });

  it('takes a repeated cancellation of a run that has not ended yet', async () => {
    const flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
    await weir.stopWorker();
    const executionId = await weir.start(flow);
    for (const _ of [1, 2, 3]) {
      const { status, body } = await weir.cancel(flow, executionId);
      assert.deepEqual([status, body.status], [202, 'started']);
    }
    await weir.startWorker();
    const { body } = await weir.finish(flow, executionId, weir.tenant.key);
    assertCancelled(body);
    assert.deepEqual(body.blocks, []);
  });

  it('ignores its body, whatever that is', async () => {
    const flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
    for (const [type, raw] of [
      ['application/json', '{"message":'],
      ['application/json', '{"unknown":1}'],
      ['text/plain', 'x'],
    ] as const) {
      const { executionId } = await acceptRun(weir, weir.tenant, flow);
      const { status, body } = await weir.call('POST', `${flow}/jobs/${executionId}/cancel`, {
        key: weir.tenant.key,
        headers: { 'content-type': type },
        raw,
      });
      assert.equal(status, 202, JSON.stringify(body));
      assertCancelled(body);
    }
  });

  it('answers for a foreign run what it answers for an unknown one', async () => {
    const stranger = await weir.createTenant();
    const theirs = await weir.createFlow(stranger, [passthrough('a')]);
    const mine = await weir.createFlow(weir.tenant, [passthrough('a')]);
    const { executionId } = (
      await weir.call('POST', `${theirs}/jobs`, { key: stranger.key, body: { message: '' } })
    ).body;
    for (const [method, suffix] of [
      ['POST', '/cancel'],
      ['GET', '/events'],
      ['GET', '/fork?step=0'],
      ['GET', ''],
    ] as const) {
      const [foreign, unknown] = await Promise.all(
        [executionId, randomUUID()].map((id) =>
          weir.call(method, `${mine}/jobs/${id}${suffix}`, { key: weir.tenant.key }),
        ),
      );
      assert.equal(foreign?.status, 404);
      assert.equal(foreign?.body.detail.code, 'RUN_NOT_FOUND');
      assert.equal(JSON.stringify(foreign?.body), JSON.stringify(unknown?.body));
      const trespass = await weir.call(method, `${theirs}/jobs/${executionId}${suffix}`, {
        key: weir.tenant.key,
      });
      assert.deepEqual([trespass.status, trespass.body.detail.code], [404, 'FLOW_NOT_FOUND']);
    }
    const { body } = await weir.finish(theirs, executionId, stranger.key);
    assert.equal(body.status, 'completed');
  });
});
