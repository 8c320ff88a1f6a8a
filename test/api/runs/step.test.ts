import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, type FakeModelServer, hang } from '../../fakes/model-server.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { createStepClient, names, only, type StepClient } from './step-client.ts';

const add = (stepId: string) => code(stepId, `return input + ${JSON.stringify(stepId)};`);
const echo = (stepId: string) => code(stepId, 'return { message, parameters, input };');

describe('POST …/step', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  let client: StepClient;
  before(async () => {
    models = (await getSharedWeir()).models;
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
  });
  after(async () => {
    await weir.stop();
  });

  const createFlow = (...steps: Step[]) => weir.createFlow(tenant, steps);
  const get = async (path: string) => (await weir.call('GET', path, { key: tenant.key })).body;
  /** A session after its first step. */
  async function begin(flow: string, body: object = {}) {
    const events = await client.step(flow, { stepIndex: 0, message: 'm', ...body });
    return { events, executionId: only(events, 'run_started').executionId as string };
  }

  describe('a session', () => {
    for (const [how, body] of [
      ['null', { executionId: null }],
      ['omitted', {}],
    ] as const)
      it(`is opened with executionId ${how}; run_started comes on that call alone`, async () => {
        const flow = await createFlow(add('a'), add('b'));
        const { events, executionId } = await begin(flow, body);
        assert.deepEqual(names(events), ['run_started', 'block_started', 'block_completed', 'step_paused']);
        const next = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'ma' } };
        assert.deepEqual(names(await client.step(flow, next)), [
          'block_started',
          'block_completed',
          'run_completed',
        ]);
        const again = await client.step(flow, { executionId, stepIndex: 0, message: 'm' });
        assert.equal(names(again).includes('run_started'), false);
      });

    it('says in each event where it is', async () => {
      const flow = await createFlow(add('a'), passthrough('b', { name: 'The last' }));
      const { events, executionId } = await begin(flow);
      const [started, block, completed, paused] = events.map(({ data }) => data);
      const { flowId } = started;
      assert.deepEqual(started, {
        executionId,
        flowId,
        version: 1,
        blockCount: 2,
        steps: [
          { index: 0, step_id: 'a', name: 'a', type: 'sequential' },
          { index: 1, step_id: 'b', name: 'The last', type: 'sequential' },
        ],
      });
      const a = { executionId, stepId: 'a', stepIndex: 0 };
      assert.deepEqual(block, { ...a, name: 'a', type: 'sequential' });
      const { blocks, ...rest } = completed;
      assert.deepEqual(rest, { ...a, output: 'ma', cost: 0 });
      assert.deepEqual(
        blocks.map(({ key }: { key: string }) => key),
        ['a'],
      );
      assert.deepEqual(paused, { ...a, nextStepIndex: 1, stepCount: 2 });
      const accumulatedOutputs = { a: completed.output };
      const last = await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs });
      const { blocks: receipt, ...end } = only(last, 'run_completed');
      assert.deepEqual(end, {
        executionId,
        flowId,
        blockCount: 2,
        status: 'completed',
        result: 'ma',
        cost: 0,
      });
      assert.deepEqual(
        receipt.map(({ key }: { key: string }) => key),
        ['b'],
      );
    });

    it('is one run of GET …/runs and GET …/jobs/{executionId}, whose state follows its calls', async () => {
      const flow = await createFlow(add('a'), add('b'));
      const { executionId } = await begin(flow);
      const open = await get(`${flow}/jobs/${executionId}`);
      assert.deepEqual([open.mode, open.status, open.finishedAt], ['step', 'in_progress', null]);
      await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs: { a: 'ma' } });
      const { runs } = await get(`${flow}/runs?mode=step`);
      assert.deepEqual(
        runs.map((run: typeof open) => [run.executionId, run.status]),
        [[executionId, 'completed']],
      );
      const ended = await get(`${flow}/jobs/${executionId}`);
      assert.deepEqual([ended.status, ended.result], ['completed', 'mab']);
      assert.deepEqual(
        ended.blocks.map((block: { key: string }) => block.key),
        ['a', 'b'],
      );
    });

    it('charges each call for its own blocks, and sums them up', async () => {
      const flow = await createFlow(llm('a', 'one', 'demo/chat'), llm('b', 'two', 'demo/chat'));
      models.will(answer('1'), answer('2'));
      const events = await client.walk(flow, { stepIndex: 0, message: 'm' });
      const costs = events.filter(({ event }) => event === 'block_completed').map(({ data }) => data.cost);
      assert(costs.length === 2 && costs.every((cost) => cost > 0));
      assert.equal(only(events, 'run_completed').cost, costs[1]);
      const { cost } = await get(`${flow}/jobs/${only(events, 'run_started').executionId}`);
      assert.equal(cost, costs[0] + costs[1]);
    });

    it('leaves cost and blocks out of all events with receipt=false', async () => {
      const flow = await createFlow(echo('a'));
      const response = await fetch(`${weir.url}/api/v1/seq/${flow}/step?receipt=false`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ stepIndex: 0, message: 'm' }),
      });
      const text = await response.text();
      assert.match(text, /event: run_completed/);
      assert.doesNotMatch(text, /"(?:cost|blocks)":/);
    });
  });

  describe('going back', () => {
    it('restarts at stepIndex 0, with another message for all later steps', async () => {
      const flow = await createFlow(echo('a'), echo('b'));
      const { executionId } = await begin(flow, { message: 'old', parameters: { kept: 1 } });
      await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs: { a: 1 } });
      const again = await client.step(flow, { executionId, stepIndex: 0, message: 'new' });
      assert.deepEqual(only(again, 'block_completed').output, {
        message: 'new',
        parameters: { kept: 1 },
        input: 'new',
      });
      assert.equal((await get(`${flow}/jobs/${executionId}`)).status, 'in_progress');
      const last = await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs: { a: 2 } });
      assert.equal(only(last, 'run_completed').result.message, 'new');
    });

    it('runs a step again, as often as it is asked', async () => {
      const flow = await createFlow(passthrough('a'), code('b', 'return input * 2;'), passthrough('c'));
      const { executionId } = await begin(flow);
      for (const a of [1, 2, 2]) {
        const events = await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs: { a } });
        assert.equal(only(events, 'block_completed').output, a * 2);
      }
      assert.equal((await get(`${flow}/jobs/${executionId}`)).blocks.length, 4);
    });

    it('mends a step that failed: run_failed, then the same step with blockOverrides', async () => {
      const flow = await createFlow(
        passthrough('a'),
        code('b', 'return input;', { outputSchema: { type: 'number' } }),
      );
      const { executionId } = await begin(flow);
      const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'text' } };
      const failed = await client.step(flow, call);
      assert.deepEqual(names(failed), ['block_started', 'run_failed']);
      const { errorMessage, blocks, ...data } = only(failed, 'run_failed');
      assert.deepEqual(data, {
        executionId,
        status: 'failed',
        stepId: 'b',
        code: 'OUTPUT_SCHEMA_MISMATCH',
        failureReason: 'error',
        cost: 0,
      });
      assert.match(errorMessage, /Block "b" \(b\): The output/);
      assert.deepEqual([blocks.length, blocks[0].status], [1, 'failed']);
      const state = await get(`${flow}/jobs/${executionId}`);
      assert.deepEqual([state.status, state.errorMessage], ['failed', errorMessage]);

      const blockOverrides = { b: { outputSchema: { type: 'string' } } };
      const mended = await client.step(flow, { ...call, blockOverrides });
      assert.equal(only(mended, 'run_completed').result, 'text');
      const ended = await get(`${flow}/jobs/${executionId}`);
      assert.deepEqual([ended.status, ended.result, ended.errorMessage], ['completed', 'text', undefined]);
    });
  });

  it('is started again while a step is mended, and can be cancelled then', async () => {
    const flow = await createFlow(passthrough('a'), llm('b', 'x', 'demo/chat'));
    const { executionId } = await begin(flow);
    const path = `${flow}/jobs/${executionId}`;
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
    const blockOverrides = { b: { inputSchema: false } };
    assert.equal(names(await client.step(flow, { ...call, blockOverrides })).at(-1), 'run_failed');
    models.will(hang);
    const asking = models.nextCall();
    const response = await client.open(flow, call);
    await asking;
    const state = await get(path);
    assert.deepEqual([state.status, state.errorMessage, state.finishedAt], ['started', undefined, null]);
    const cancelled = await weir.call('POST', `${path}/cancel`, { key: tenant.key });
    assert.deepEqual([cancelled.status, cancelled.body.status], [202, 'failed']);
    const events = [];
    for await (const event of client.read(response)) events.push(event);
    assert.equal(only(events, 'run_failed').code, 'CANCELLED');
  });

  it('is cancelled or goes on, when both are asked at once: nothing is left under way, or spent after', async () => {
    const flow = await createFlow(passthrough('a'), llm('b', 'x', 'demo/chat'), passthrough('c'));
    const sessions = await Promise.all(Array.from({ length: 10 }, () => begin(flow)));
    const asked = models.calls.length;
    models.will(...sessions.map(() => answer('done')));
    await Promise.all(
      sessions.map(async ({ executionId }, index) => {
        const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
        const cancel = () => weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: tenant.key });
        const first = index % 2 ? cancel() : undefined;
        const response = await client.open(flow, call);
        assert.match(`${response.status} ${await response.text()}`, /^200 |^409 .*"CONFLICT"/s);
        assert.equal((await (first ?? cancel())).status, 202);
        const { status, errorMessage, blocks } = (await weir.finish(flow, executionId, tenant.key)).body;
        assert.deepEqual([status, errorMessage], ['failed', 'The run was cancelled.']);
        assert(blocks.length <= (response.status === 200 ? 2 : 1));
      }),
    );
    const left = weir.db.selectFrom('run').select('execution_id').where('status', '=', 'started').execute();
    assert.deepEqual(await left, []);
    assert(models.calls.length - asked <= sessions.length);
  });

  describe('runRemaining', () => {
    it('runs from stepIndex to the end, with step_progress between steps', async () => {
      const flow = await createFlow(add('a'), add('b'), add('c'), add('d'));
      const { executionId } = await begin(flow);
      const events = await client.step(flow, {
        executionId,
        stepIndex: 1,
        accumulatedOutputs: { a: 'A' },
        runRemaining: true,
      });
      const step = ['block_started', 'block_completed', 'step_progress'];
      assert.deepEqual(names(events), [...step, ...step, ...step.slice(0, 2), 'run_completed']);
      const progress = events.filter(({ event }) => event === 'step_progress').map(({ data }) => data);
      assert.deepEqual(progress, [
        { executionId, stepId: 'b', stepIndex: 1, nextStepIndex: 2, stepCount: 4 },
        { executionId, stepId: 'c', stepIndex: 2, nextStepIndex: 3, stepCount: 4 },
      ]);
      const { result, blocks } = only(events, 'run_completed');
      assert.deepEqual([result, blocks.length], ['Abcd', 3]);
    });
  });
});
