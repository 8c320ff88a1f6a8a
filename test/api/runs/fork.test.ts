import assert from 'node:assert/strict';
import { OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { type FakeModelServer, hang } from '../../fakes/model-server.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('GET …/jobs/{executionId}/fork', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  before(async () => {
    models = (await getSharedWeir()).models;
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
  });

  const execute = async (flow: string, body: object = {}): Promise<string> =>
    (await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm', ...body } })).body
      .executionId;
  const fork = (flow: string, executionId: string, query: string) =>
    weir.call('GET', `${flow}/jobs/${executionId}/fork${query}`, { key: tenant.key });

  it('answers the outputs of the steps before, composed as the run composed them', async () => {
    const flow = await weir.createFlow(tenant, [
      code('list', 'return [1, 2];'),
      {
        type: 'loop',
        step_id: 'each',
        name: 'each',
        max_iterations: 5,
        body: [code('double', 'return input * 2;')],
      },
      {
        type: 'parallel',
        step_id: 'both',
        name: 'both',
        branches: {
          sum: [code('sum', 'return input[0] + input[1];')],
          none: [],
          large: [code('large', 'return "x".repeat(10_000);')],
        },
      },
      code('bad', 'throw new Error("no")'),
    ]);
    const executionId = await execute(flow, { parameters: { tone: 'dry' } });
    const outputs = {
      list: [1, 2],
      each: [2, 4],
      both: { sum: 6, none: [2, 4], large: 'x'.repeat(10_000) },
    };
    for (const [step, before] of [
      [0, {}],
      [1, { list: outputs.list }],
      [2, { list: outputs.list, each: outputs.each }],
      [3, outputs],
    ] as const) {
      const { status, body } = await fork(flow, executionId, `?step=${step}`);
      assert.equal(status, 200);
      assert.deepEqual(body, {
        executionId: null,
        version: 1,
        stepIndex: step,
        accumulatedOutputs: before,
        message: 'm',
        parameters: { tone: 'dry' },
      });
    }
  });

  it('carries the overrides of the run', async () => {
    const flow = await weir.createFlow(tenant, [code('a', 'return 1;'), passthrough('b')]);
    const block_overrides = { a: { processor_config: { timeout_ms: 1_000 } } };
    const executionId = await execute(flow, { block_overrides });
    assert.deepEqual((await fork(flow, executionId, '?step=1')).body.blockOverrides, block_overrides);
  });

  it('names the wrong step in a 422', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
    const executionId = await execute(flow);
    for (const query of [
      '',
      '?step=',
      '?step=2',
      '?step=-1',
      '?step=x',
      '?step=1e0',
      '?step=0&step=1',
      '?step=9999999',
    ]) {
      const { status, body } = await fork(flow, executionId, query);
      assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR'], query);
      assert.equal(body.detail.errors[0].field, 'step', query);
    }
    const { body } = await fork(flow, executionId, '?step=0&stop=1');
    assert.equal(body.detail.errors[0].field, 'stop');
    const empty = await weir.createFlow(tenant, []);
    assert.equal((await fork(empty, await execute(empty), '?step=0')).status, 422);
  });

  it('answers 409 naming the step before that has not completed', async () => {
    const failing = await weir.createFlow(tenant, [
      passthrough('a'),
      { type: 'loop', step_id: 'l', name: 'l', max_iterations: 5, body: [passthrough('x')] },
      passthrough('b'),
    ]);
    const failed = await execute(failing);
    assert.equal((await fork(failing, failed, '?step=1')).status, 200);
    const { status, body } = await fork(failing, failed, '?step=2');
    assert.deepEqual([status, body.detail.code, body.detail.step_id], [409, 'CONFLICT', 'l']);

    const waiting = await weir.createFlow(tenant, [
      passthrough('a'),
      llm('ask', 'x', 'demo/chat'),
      passthrough('b'),
    ]);
    models.will(hang);
    const asked = models.nextCall();
    const { executionId } = (
      await weir.call('POST', `${waiting}/jobs`, { key: tenant.key, body: { message: 'm' } })
    ).body;
    await asked;
    assert.equal((await fork(waiting, executionId, '?step=1')).status, 200);
    assert.deepEqual((await fork(waiting, executionId, '?step=2')).body.detail.step_id, 'ask');
    await weir.call('POST', `${waiting}/jobs/${executionId}/cancel`, { key: tenant.key });
    await weir.finish(waiting, executionId, tenant.key);
  });

  it('leaves out the outputs of early steps that a request of /step has no room for', async () => {
    const flow = await weir.createFlow(tenant, [
      code('a', `return "x".repeat(${OUTPUT_MAX_BYTES - 2});`),
      passthrough('b'),
      passthrough('c'),
    ]);
    const executionId = await execute(flow);
    assert.deepEqual(Object.keys((await fork(flow, executionId, '?step=1')).body.accumulatedOutputs), ['a']);
    const { status, body } = await fork(flow, executionId, '?step=2');
    assert.deepEqual([status, Object.keys(body.accumulatedOutputs)], [200, ['b']]);
  });

  it('answers 413 when the output of the step before has no room beside the message', async () => {
    const flow = await weir.createFlow(tenant, [
      code('a', 'return "x".repeat(4_000_000);'),
      passthrough('b'),
    ]);
    const message = 'x'.repeat(5_000_000);
    const { body: run } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message } });
    const { status, body } = await fork(flow, run.executionId, '?step=1');
    assert.deepEqual([status, body.detail.code, body.detail.step_id], [413, 'BODY_TOO_LARGE', 'a']);
  });
});
