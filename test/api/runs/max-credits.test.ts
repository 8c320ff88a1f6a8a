import assert from 'node:assert/strict';
import { code, passthrough } from '../../blocks.ts';
import { hang } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { ask, CALL, credits, spend, useCredits } from './credits-harness.ts';

describe('maxCredits', () => {
  const harness = useCredits();

  const max = (calls: number) => ({ maxCredits: credits(Math.round(CALL * calls)) });
  const assertStopped = (body: { [field: string]: unknown }, step: string, spent: number) => {
    assert.deepEqual(
      [body.status, body.failureReason, body.cost],
      ['failed', 'credits_exhausted', credits(spent)],
    );
    assert.match(
      String(body.errorMessage),
      RegExp(`^Block "${step}" \\(${step}(#\\d+)?\\): maxCredits of the run is`),
    );
    assert.match(String(body.errorMessage), RegExp(`: ${credits(spent)} are spent, `));
  };

  it('stops a sequence before the call that could exceed it', async () => {
    await harness.pay(100);
    harness.models.will(spend, spend);
    const body = await harness.execute([ask('a'), ask('b'), ask('c')], max(2.5));
    assertStopped(body, 'c', 2 * CALL);
    assert.equal(harness.models.calls.length, 2);
    assert.equal((await harness.account()).balance, 98 * CALL);
  });

  it('lets a run spend exactly as much', async () => {
    await harness.pay(100);
    harness.models.will(spend, spend);
    const body = await harness.execute([ask('a'), ask('b')], max(2));
    assert.deepEqual([body.status, body.cost], ['completed', credits(2 * CALL)]);
  });

  it('stops a loop at the iteration that could exceed it', async () => {
    await harness.pay(100);
    harness.models.will(spend, spend, spend);
    const body = await harness.execute(
      [
        code('list', 'return [1, 2, 3, 4, 5];'),
        { type: 'loop', step_id: 'each', name: 'each', max_iterations: 5, body: [ask('item')] },
      ],
      max(3),
    );
    assertStopped(body, 'item', 3 * CALL);
    assert.deepEqual(
      body.blocks.map(({ key, status }: { key: string; status: string }) => `${key} ${status}`),
      ['list completed', 'item#0 completed', 'item#1 completed', 'item#2 completed', 'item#3 failed'],
    );
  });

  it('counts branches together: a branch fails for it when the calls of the others are answered and charged', async () => {
    await harness.pay(100);
    harness.models.will(hang);
    const asked = harness.models.nextCall();
    const branches = { a: [ask('a')], b: [ask('b')] };
    const flow = await harness.weir.createFlow(harness.tenant, [
      { type: 'parallel', step_id: 'p', name: 'p', branches },
    ]);
    const { body: job } = await harness.weir.call('POST', `${flow}/jobs`, {
      key: harness.tenant.key,
      body: { message: '', ...max(1.9) },
    });
    const response = await asked;
    const workflow = harness.weir.client.workflow.getHandle(job.executionId);
    await waitUntil(async () => {
      const { pendingActivities } = (await workflow.describe()).raw;
      return pendingActivities?.some(({ lastFailure }) =>
        lastFailure?.message?.includes('waits for credits'),
      );
    });
    spend(response);
    const { body } = await harness.weir.finish(flow, job.executionId, harness.tenant.key);
    assert.deepEqual([body.status, body.code, body.cost], ['failed', 'MAX_CREDITS_REACHED', credits(CALL)]);
    assert.equal(harness.models.calls.length, 1);
    assert.deepEqual((await harness.account()).balance, 99 * CALL);
  });

  it('holds for /jobs, and leaves another run alone', async () => {
    await harness.pay(100);
    harness.models.will(spend);
    const flow = await harness.weir.createFlow(harness.tenant, [ask('a')]);
    const start = (maxCredits: number) =>
      harness.weir.call('POST', `${flow}/jobs`, {
        key: harness.tenant.key,
        body: { message: '', maxCredits },
      });
    const small = await start(0.000001);
    const { body } = await harness.weir.finish(flow, small.body.executionId, harness.tenant.key);
    assertStopped(body, 'a', 0);
    const large = await start(1_000_000_000);
    assert.equal(
      (await harness.weir.finish(flow, large.body.executionId, harness.tenant.key)).body.status,
      'completed',
    );
  });

  for (const wrong of [0, -1, 1e-7, 0.1234567, 1_000_000_001, '5'])
    it(`is refused with 422 as ${JSON.stringify(wrong)}`, async () => {
      await harness.pay(1);
      const flow = await harness.weir.createFlow(harness.tenant, [passthrough('a')]);
      for (const endpoint of ['execute', 'jobs']) {
        const { status, body } = await harness.weir.call('POST', `${flow}/${endpoint}`, {
          key: harness.tenant.key,
          body: { message: '', maxCredits: wrong },
        });
        assert.deepEqual([status, body.detail.errors?.[0]?.field], [422, 'maxCredits']);
      }
    });
});
