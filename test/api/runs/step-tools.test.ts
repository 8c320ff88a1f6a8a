import assert from 'node:assert/strict';
import { code, llm } from '../../blocks.ts';
import { answer, callTools, type FakeModelServer } from '../../fakes/model-server.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { createStepClient, names, only, resumeOf, type StepClient } from './step-client.ts';

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
/** The model asks for tools. */
const calls = (...ids: string[]) =>
  callTools(ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })));

describe('POST …/step with tools', () => {
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

  const ask = (stepId: string) =>
    llm(stepId, `${stepId}: {{previous_output}}`, 'demo/chat', {
      processor_config: { tools_enabled: true },
    });
  const createFlow = () =>
    weir.createFlow(tenant, [
      code('a', 'return input + "a";'),
      ask('ask'),
      ask('more'),
      code('end', 'return { input, message };'),
    ]);
  const get = async (path: string) => (await weir.call('GET', path, { key: tenant.key })).body;
  const charges = async (flow: string, executionId: string) =>
    (await get(`${flow}/jobs/${executionId}`)).blocks.filter(
      ({ usage }: { usage: { cost: number } }) => usage.cost > 0,
    ).length;
  async function refused(path: string, body: object, status: number, code: string) {
    const asked = models.calls.length;
    const answer = await weir.call('POST', `${path}/step`, { key: tenant.key, body });
    assert.deepEqual([answer.status, answer.body.detail?.code], [status, code], JSON.stringify(answer.body));
    assert.equal(models.calls.length, asked);
    return answer.body.detail;
  }
  /** A session that is paused at step 1, and what resumes it. */
  async function pause({ flow, ids = ['c1'], more = {} }: { flow: string; ids?: string[]; more?: object }) {
    const first = await client.step(flow, { stepIndex: 0, message: 'm' });
    const { executionId } = only(first, 'run_started');
    models.will(calls(...ids));
    const accumulatedOutputs = { a: 'ma' };
    const call = { executionId, stepIndex: 1, accumulatedOutputs, tools, ...more };
    const events = await client.step(flow, call);
    return { flow, executionId, call, events, resume: resumeOf(call, events) };
  }
  it('pauses instead of block_completed, with all that the client needs to go on', async () => {
    const { flow, executionId, events } = await pause({ flow: await createFlow(), ids: ['c1', 'c2'] });
    assert.deepEqual(names(events), ['block_started', 'step_paused_for_tool_calls']);
    const paused = only(events, 'step_paused_for_tool_calls');
    const { toolCallMessages, toolCalls, resumeState, cost, blocks, ...rest } = paused;
    assert.deepEqual(rest, {
      runId: executionId,
      executionId,
      stepId: 'ask',
      stepIndex: 1,
      status: 'in_progress',
      pausedAtStep: 'ask',
      iterationsUsed: 1,
      accumulatedOutputs: { a: 'ma' },
    });
    assert.deepEqual(
      toolCallMessages.map(({ role }: { role: string }) => role),
      ['user', 'assistant'],
    );
    assert.equal(toolCallMessages[0].content, 'ask: ma');
    assert.deepEqual(toolCalls, toolCallMessages[1].tool_calls);
    const [block] = blocks;
    assert.deepEqual([blocks.length, block.status, block.usage.cost], [1, 'paused', cost]);
    const state = await get(`${flow}/jobs/${executionId}`);
    assert.deepEqual(
      [state.status, state.pausedAtStep, state.resumeState],
      ['in_progress', 'ask', resumeState],
    );
  });

  it('goes on at the same stepIndex, through several rounds, and with the next step after', async () => {
    const { flow, executionId, call, events, resume } = await pause({ flow: await createFlow() });
    models.will(calls('c2', 'c3'));
    const second = await client.step(flow, resume);
    assert.deepEqual(names(second), ['block_started', 'step_paused_for_tool_calls']);
    assert.equal(only(second, 'step_paused_for_tool_calls').iterationsUsed, 2);
    models.will(answer('found'));
    const third = await client.step(flow, {
      ...resumeOf(call, second),
      resumeState: only(second, 'step_paused_for_tool_calls').resumeState,
    });
    assert.deepEqual(names(third), ['block_started', 'block_completed', 'step_paused']);
    assert.equal(only(third, 'block_completed').output, 'found');
    const { messages } = models.calls.at(-1)?.body ?? {};
    assert.deepEqual(
      (messages as { role: string }[]).map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'tool', 'tool'],
    );
    const accumulatedOutputs = { a: 'ma', ask: 'found', more: 'said' };
    const last = await client.step(flow, { executionId, stepIndex: 3, accumulatedOutputs });
    assert.deepEqual(only(last, 'run_completed').result, { input: 'said', message: 'm' });
    assert.equal(names(events).includes('block_completed'), false);
    assert.equal(await charges(flow, executionId), 3);
  });

  it('goes on to the end with runRemaining, pausing wherever a model asks for tools', async () => {
    const flow = await createFlow();
    models.will(calls('c1'));
    const call = { runRemaining: true, tools };
    const first = await client.step(flow, { ...call, stepIndex: 0, message: 'm' });
    const { executionId } = only(first, 'run_started');
    const begun = ['block_started', 'block_completed', 'step_progress'];
    const paused = ['block_started', 'step_paused_for_tool_calls'];
    assert.deepEqual(names(first), ['run_started', ...begun, ...paused]);
    models.will(answer('A'), calls('c2'));
    const second = await client.step(flow, resumeOf({ ...call, executionId }, first));
    assert.deepEqual(names(second), [...begun, ...paused]);
    const pausePoint = only(second, 'step_paused_for_tool_calls');
    assert.deepEqual(
      [pausePoint.stepIndex, pausePoint.iterationsUsed, pausePoint.accumulatedOutputs],
      [2, 1, { a: 'ma', ask: 'A' }],
    );
    models.will(answer('B'));
    const third = await client.step(flow, resumeOf({ ...call, executionId }, second));
    assert.deepEqual(names(third), [...begun, 'block_started', 'block_completed', 'run_completed']);
    assert.deepEqual(only(third, 'run_completed').result, { input: 'B', message: 'm' });
    assert.equal((await get(`${flow}/jobs/${executionId}`)).status, 'completed');
  });

  it('attaches a repeated resume to the first one, and bills once', async () => {
    const { flow, executionId, resume } = await pause({ flow: await createFlow() });
    models.will(answer('once'));
    const asked = models.calls.length;
    const [first, ...rest] = await Promise.all([1, 2, 3].map(() => client.step(flow, resume)));
    const { iterationsUsed, ...again } = resume;
    const ignored = { message: 'ignored', callbackUrl: 'ignored', callbackEvents: null };
    rest.push(await client.step(flow, { ...again, ...ignored }));
    for (const events of rest) assert.deepEqual(events, first);
    assert.equal(models.calls.length, asked + 1);
    assert.equal(await charges(flow, executionId), 2);
    const answered = await client.open(flow, resume);
    assert.equal(answered.headers.get('idempotent-replayed'), 'true');
    await answered.body?.cancel();
  });

  it('takes one resume of a pause: another one is refused, at the same moment too', async () => {
    const { flow, executionId, resume } = await pause({ flow: await createFlow() });
    models.will(answer('first'));
    const asked = models.calls.length;
    const others = ['x', 'y', 'z'].map((content) => ({
      ...resume,
      toolCallMessages: [
        ...resume.toolCallMessages.slice(0, -1),
        { role: 'tool', tool_call_id: 'c1', content },
      ],
    }));
    const responses = await Promise.all([resume, ...others].map((body) => client.open(flow, body)));
    const texts = await Promise.all(responses.map((response) => response.text()));
    const accepted = responses.filter(({ status }) => status === 200);
    assert.equal(accepted.length, 1, texts.join());
    for (const [index, { status }] of responses.entries())
      if (status !== 200) assert.match(texts[index] ?? '', /"code":"(CONFLICT|TOOL_RESULTS_MISMATCH)"/);
    assert.equal(models.calls.length, asked + 1);
    assert.equal(await charges(flow, executionId), 2);
  });

  it('takes the outputs of the pause where a resume leaves accumulatedOutputs out, repeated too', async () => {
    const { flow, resume } = await pause({ flow: await createFlow(), more: { runRemaining: true } });
    const { accumulatedOutputs: _, ...without } = resume;
    models.will(answer('A'), calls('c9'));
    const events = await client.step(flow, without);
    assert.deepEqual(only(events, 'step_paused_for_tool_calls').accumulatedOutputs, { a: 'ma', ask: 'A' });
    assert.deepEqual(await client.step(flow, without), events);
  });

  it('ignores tools for a step without the flag', async () => {
    const flow = await weir.createFlow(tenant, [llm('plain', 'p', 'demo/chat'), ask('ask')]);
    models.will(answer('no tools'));
    const events = await client.step(flow, { stepIndex: 0, message: 'm', tools, toolChoice: 'required' });
    assert.equal(only(events, 'block_completed').output, 'no tools');
    const { tools: sent, tool_choice } = models.calls.at(-1)?.body ?? {};
    assert.deepEqual([sent, tool_choice], [undefined, undefined]);
  });

  it('answers 500 MODEL_TOOLS_UNSUPPORTED for a chosen model that has no tool calls', async () => {
    const blockOverrides = { ask: { model: 'demo/no-tools' } };
    const call = { stepIndex: 1, accumulatedOutputs: { a: 'ma' }, tools, blockOverrides };
    const { message } = await refused(await createFlow(), call, 500, 'MODEL_TOOLS_UNSUPPORTED');
    assert.match(message, /demo\/no-tools .* does not support tool calling/);
  });

  it('restarts a paused step when it is run again without results', async () => {
    const { flow, call, resume } = await pause({ flow: await createFlow() });
    models.will(answer('fresh'));
    assert.equal(only(await client.step(flow, call), 'block_completed').output, 'fresh');
    await refused(flow, resume, 400, 'TOOL_RESULTS_MISMATCH');
  });

  it('answers TOOL_RESULTS_MISMATCH for missing and extra ids, and for another step', async () => {
    const { flow, resume } = await pause({ flow: await createFlow(), ids: ['c1', 'c2'] });
    const extra = { role: 'tool', tool_call_id: 'c3', content: 'x' };
    for (const [toolCallMessages, received] of [
      [resume.toolCallMessages.slice(0, -1), ['c1']],
      [
        [...resume.toolCallMessages, extra],
        ['c1', 'c2', 'c3'],
      ],
      [[], []],
    ] as const) {
      const detail = await refused(flow, { ...resume, toolCallMessages }, 400, 'TOOL_RESULTS_MISMATCH');
      assert.deepEqual([detail.expected, detail.received], [['c1', 'c2'], received]);
    }
    const accumulatedOutputs = { a: 'ma', ask: 'x' };
    await refused(flow, { ...resume, stepIndex: 2, accumulatedOutputs }, 400, 'TOOL_RESULTS_MISMATCH');
  });

  it('answers INVALID_RESUME for a resumeState that something was changed under', async () => {
    const { flow, resume, events } = await pause({ flow: await createFlow() });
    const { resumeState } = only(events, 'step_paused_for_tool_calls');
    const changed = { ...resume, resumeState, accumulatedOutputs: { a: 'changed' } };
    await refused(flow, changed, 400, 'INVALID_RESUME');
    const payload = resumeState.split('.')[0];
    const refuseForged = async () => {
      for (const forged of ['', '.', payload, `${resumeState}x`, `${payload}.${'é'.repeat(43)}`])
        await refused(flow, { ...resume, resumeState: forged }, 400, 'INVALID_RESUME');
    };
    await refuseForged();
    models.will(answer('found'));
    assert.equal(
      only(await client.step(flow, { ...resume, resumeState }), 'block_completed').output,
      'found',
    );
    await refuseForged();
  });
});
