import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Step } from '../../../flow/definition.ts';
import { OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, callTools, type FakeModelServer } from '../../fakes/model-server.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';

const tools = [{ type: 'function', function: { name: 'look' } }];
const callTool = callTools([{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }]);
const result = { role: 'tool', tool_call_id: 'c1', content: '1' };

describe('a fork, sent to POST …/step as it is', () => {
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

  const call = async (path: string, body: object) => {
    const reply = await weir.call('POST', path, { key: tenant.key, body });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body;
  };
  const fork = async (flow: string, executionId: string, step: number) =>
    (await weir.call('GET', `${flow}/jobs/${executionId}/fork?step=${step}`, { key: tenant.key })).body;
  /** A session after its first step. */
  const begin = async (flow: string, message: string): Promise<string> =>
    only(await client.step(flow, { stepIndex: 0, message }), 'run_started').executionId;
  const listCallIds = (executionId: string) =>
    sql<{ id: string }>`select execution_id as id from run where continues = ${executionId}`.execute(weir.db);
  const last = (n: number): Step => code('end', `return { n: ${n}, message, parameters, input };`);
  const asking = llm('ask', '{{previous_output}}', 'demo/chat', {
    processor_config: { tools_enabled: true },
  });

  it('of an /execute run with loop and parallel steps comes to its result from every step', async () => {
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
        branches: { sum: [code('sum', 'return input[0] + input[1];')], all: [passthrough('all')] },
      },
      last(1),
    ]);
    const body = { message: 'm', parameters: { tone: 'dry' } };
    const run = await call(`${flow}/execute`, body);
    for (const step of [0, 1, 2, 3]) {
      const cursor = await fork(flow, run.executionId, step);
      const events = await client.step(`${flow}/v${cursor.version}`, { ...cursor, runRemaining: true });
      const { executionId } = only(events, 'run_started');
      assert.notEqual(executionId, run.executionId);
      assert.deepEqual(only(events, 'run_completed').result, run.result);
    }
  });

  it('of a run that failed retries the step that failed, without those before', async () => {
    const flow = await weir.createFlow(tenant, [llm('a', 'x', 'demo/chat'), code('bad', 'throw 1;')]);
    models.will(answer('once'));
    const run = await call(`${flow}/execute`, { message: 'm', block_overrides: { a: { prompt: 'y' } } });
    assert.equal(run.status, 'failed');
    const asked = models.calls.length;
    const cursor = await fork(flow, run.executionId, 1);
    assert.deepEqual(
      [cursor.accumulatedOutputs, cursor.blockOverrides],
      [{ a: 'once' }, { a: { prompt: 'y' } }],
    );
    assert.equal(only(await client.step(flow, cursor), 'run_failed').stepId, 'bad');
    assert.equal(models.calls.length, asked);
  });

  it('of a run that paused and was resumed has the outputs of both, and its tools', async () => {
    const flow = await weir.createFlow(tenant, [code('a', 'return "a";'), asking, last(2)]);
    models.will(callTool, answer('found'));
    const paused = await call(`${flow}/execute`, { message: 'm', tools, toolChoice: 'auto' });
    assert.deepEqual((await fork(flow, paused.executionId, 1)).accumulatedOutputs, { a: 'a' });
    const { executionId, pausedAtStep, toolCallMessages, accumulatedOutputs } = paused;
    const resumed = await call(`${flow}/execute`, {
      executionId,
      pausedAtStep,
      accumulatedOutputs,
      tools,
      toolCallMessages: [...toolCallMessages, result],
    });
    const cursor = await fork(flow, executionId, 2);
    assert.deepEqual(cursor.accumulatedOutputs, { a: 'a', ask: 'found' });
    assert.deepEqual(only(await client.step(flow, cursor), 'run_completed').result, resumed.result);
    const again = await fork(flow, executionId, 1);
    assert.deepEqual([again.tools, again.toolChoice], [tools, 'auto']);
    models.will(callTool);
    const events = await client.step(flow, again);
    assert.equal(only(events, 'step_paused_for_tool_calls').stepId, 'ask');
  });

  it('of a session has what its steps answered last, and what its client made of that', async () => {
    const flow = await weir.createFlow(tenant, [
      passthrough('a'),
      code('b', 'return input + "b";'),
      passthrough('c'),
      last(3),
    ]);
    const events = await client.walk(flow, { stepIndex: 0, message: 'm', parameters: { p: 1 } });
    const { executionId } = only(events, 'run_started');
    assert.deepEqual((await fork(flow, executionId, 3)).accumulatedOutputs, { a: 'm', b: 'mb', c: 'mb' });
    await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs: { a: 'changed' } });
    const cursor = await fork(flow, executionId, 3);
    assert.deepEqual(cursor.accumulatedOutputs, { a: 'changed', b: 'changedb', c: 'mb' });
    assert.deepEqual(only(await client.step(flow, cursor), 'run_completed').result, {
      n: 3,
      message: 'm',
      parameters: { p: 1 },
      input: 'mb',
    });
    await client.step(flow, { executionId, stepIndex: 0, message: 'new' });
    const anew = await fork(flow, executionId, 1);
    assert.deepEqual([anew.message, anew.accumulatedOutputs], ['new', { a: 'new' }]);
  });

  it('of a fork that was opened in the middle has the outputs it was opened with', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b'), passthrough('c')]);
    const run = await call(`${flow}/execute`, { message: 'm' });
    const events = await client.step(flow, await fork(flow, run.executionId, 1));
    const { executionId } = only(events, 'run_started');
    assert.deepEqual((await fork(flow, executionId, 2)).accumulatedOutputs, { a: 'm', b: 'm' });
    const unfinished = await weir.call('GET', `${flow}/jobs/${executionId}/fork?step=3`, { key: tenant.key });
    assert.equal(unfinished.status, 422);
  });

  it('of a session has what its client brought, whatever characters its values have', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b'), passthrough('c')]);
    const message = '\u0000 \ud83d \\u0041 \\" ","continuation":{"outputs":{"b":1}}';
    const executionId = await begin(flow, message);
    const accumulatedOutputs = { a: message };
    await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs, inputOverrides: { a: 'x' } });
    await client.step(flow, { executionId, stepIndex: 2, accumulatedOutputs: { b: 'brought' } });
    const cursor = await fork(flow, executionId, 2);
    assert.deepEqual(cursor.accumulatedOutputs, { a: message, b: 'brought' });
  });

  it('of a session looks through 128 MiB of its calls at most, the last ones first', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b'), passthrough('c')]);
    const executionId = await begin(flow, 'm');
    await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } });
    const { rows: known } = await listCallIds(executionId);
    for (let again = 0; again < 10; again++)
      await client.step(flow, { executionId, stepIndex: 0, message: 'm' });
    assert.deepEqual((await fork(flow, executionId, 2)).accumulatedOutputs, { a: 'm', b: 'm' });
    await sql`update run set input = json_build_object(
      'message', repeat('x', 14000000), 'continuation', json_build_object('outputs', json_build_object())
    ) where continues = ${executionId} and execution_id <> all(${known.map(({ id }) => id)}::uuid[])`.execute(
      weir.db,
    );
    assert.deepEqual((await fork(flow, executionId, 1)).accumulatedOutputs, { a: 'm' });
    const { code, step_id, message } = (await fork(flow, executionId, 2)).detail;
    assert.deepEqual([code, step_id], ['CONFLICT', 'b']);
    assert.match(message, /are so large that earlier ones are not looked through/);
  });

  it('of outputs larger than a request goes on with those it carries, and can be forked again', async () => {
    const flow = await weir.createFlow(tenant, [
      code('a', `return "x".repeat(${OUTPUT_MAX_BYTES - 2});`),
      passthrough('b'),
      code('c', 'return input.length;'),
      passthrough('d'),
    ]);
    const run = await call(`${flow}/execute`, { message: 'm' });
    const cursor = await fork(flow, run.executionId, 2);
    assert.deepEqual(Object.keys(cursor.accumulatedOutputs), ['b']);
    const events = await client.step(flow, cursor);
    const { executionId } = only(events, 'run_started');
    assert.deepEqual(Object.keys((await fork(flow, executionId, 3)).accumulatedOutputs), ['b', 'c']);
  });

  it('does not add up outputs that were answered again: 8 MiB hold for those it carries', async () => {
    const flow = await weir.createFlow(tenant, [
      code('a', 'return "x".repeat(4_000_000);'),
      passthrough('b'),
    ]);
    const events = await client.step(flow, { stepIndex: 0, message: 'm' });
    const { executionId } = only(events, 'run_started');
    for (let again = 0; again < 2; again++)
      await client.step(flow, { executionId, stepIndex: 0, message: 'm' });
    const cursor = await fork(flow, executionId, 1);
    assert.equal(cursor.accumulatedOutputs.a.length, 4_000_000);
    assert.equal(only(await client.step(flow, cursor), 'run_completed').result.length, 4_000_000);
  });
});
