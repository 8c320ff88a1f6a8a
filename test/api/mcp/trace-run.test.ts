import assert from 'node:assert/strict';
import { runTrace, stepTrace, traceRun, traceStep } from '../../../api/mcp/trace-run.ts';
import { runTestCase } from '../../../api/test-cases/run-tests.ts';
import type { Step } from '../../../flow/definition.ts';
import { REQUEST_BYTES_EACH, SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { startTestsWeir, type TestsWeir } from '../test-cases/tests-harness.ts';

describe('traces', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());

  /** Executes a published flow; answers the executionId. */
  async function execute(steps: Step[], body: object = {}): Promise<string> {
    const flow = await tests.weir.createFlow(tests.tenant, steps);
    const { key } = tests.tenant;
    return (await tests.weir.call('POST', `${flow}/execute`, { key, body: { message: 'hello', ...body } }))
      .body.executionId;
  }
  /** As it is sent: a trace has exactly the fields that its schema lists. */
  async function trace(flow_run_id: string) {
    const { flow_run } = runTrace.parse(await traceRun(tests.deps, tests.ada.access, { flow_run_id }));
    assert(flow_run);
    return flow_run;
  }
  const traceOf = async (flow_run_id: string, step_id: string) =>
    stepTrace.parse(await traceStep(tests.deps, tests.ada.access, { flow_run_id, step_id }));

  it('show the last console lines of code, as far as there is room', async () => {
    const id = await execute([
      code('print', 'for (let i = 0; i < 400; i++) console.warn(i + "x".repeat(95)); throw new Error("no");'),
    ]);
    const { logs = [] } = (await trace(id)).blocks[0] ?? {};
    assert.equal(logs.at(-1), `warn: 399${'x'.repeat(95)}`);
    assert.ok(logs.length > 1 && logs.length < 400, `${logs.length}`);
  });

  it('show the input of each block, what it sent and its output, with tokens, cost, time and attempts', async () => {
    tests.models.will(respond(503, {}, { 'retry-after': '0' }), answer('{"n":2}'));
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const id = await execute(
      [
        code('list', 'return { list: [1], of: parameters.of };'),
        llm('ask', 'Say {{previous_output}} of {{message}}: {{parameters.of}}', 'demo/no-schema', {
          outputSchema,
        }),
        passthrough('end'),
      ],
      { parameters: { of: 'things' } },
    );
    const sentToModel = tests.models.calls.at(-1)?.body.messages;
    const run = await trace(id);
    assert.deepEqual(
      [run.mode, run.version, run.status, run.message, run.parameters, run.answer, run.test, run.left_out],
      ['execute', 1, 'completed', 'hello', { of: 'things' }, { n: 2 }, null, 0],
    );
    const [list, ask, end] = run.blocks;
    assert(list && ask && end);
    assert.deepEqual(
      [list.input, list.sent, list.output],
      ['hello', 'return { list: [1], of: parameters.of };', { list: [1], of: 'things' }],
    );
    assert.deepEqual([end.input, end.sent, end.output], [{ n: 2 }, null, { n: 2 }]);
    assert.deepEqual([ask.input, ask.output], [list.output, { n: 2 }]);
    assert.deepEqual(ask.sent, { model: 'demo/no-schema', messages: sentToModel });
    assert.deepEqual([ask.prompt_tokens, ask.completion_tokens, ask.attempts], [10, 5, 2]);
    assert(ask.cost > 0 && ask.cost === run.cost);
    for (const { ms, started_at } of run.blocks) assert(ms >= 0 && Date.parse(started_at) > 0);
  });

  it('show overrides and images as they were sent', async () => {
    tests.models.will(answer('ok'));
    const id = await execute([llm('ask', 'unused', 'demo/vision')], {
      block_overrides: { ask: { prompt: 'instead: {{message}}' } },
      attachments: [{ kind: 'url', url: 'https://93.184.215.14/a.png', mime_type: 'image/png' }],
    });
    const [ask] = (await trace(id)).blocks;
    const { messages } = tests.models.calls.at(-1)?.body ?? {};
    assert.deepEqual(ask?.sent, { model: 'demo/vision', messages });
    assert(JSON.stringify(messages).includes('instead: hello'));
  });

  it('name the error of a failed block and of its run', async () => {
    const id = await execute([passthrough('a'), code('b', 'throw new Error("no luck");')]);
    const run = await trace(id);
    assert.deepEqual(
      [run.status, run.error?.code, run.error?.step_id, run.answer],
      ['failed', 'CODE_ERROR', 'b', null],
    );
    assert.match(run.blocks[1]?.error?.message ?? '', /no luck/);
    assert.equal(run.blocks[1]?.output, null);
  });

  it('of a block whose model is unknown say so', async () => {
    const run = await trace(await execute([llm('a', 'x', 'nobody/model')]));
    assert.equal(run.blocks[0]?.error?.code, 'MODEL_NOT_CONFIGURED');
    assert.deepEqual(run.blocks[0]?.sent, {
      model: 'nobody/model',
      messages: [{ role: 'user', content: 'x' }],
    });
  });

  it('cut long values with a marker that tells their size', async () => {
    const id = await execute(
      [
        code('a', 'return "é".repeat(100_000);'),
        code('b', 'return { long: input };'),
        llm('c', '{{previous_output}}', 'demo/chat'),
      ],
      {},
    );
    const run = await trace(id);
    const size = JSON.stringify(run).length;
    assert(size < 60_000, `${size} characters`);
    for (const value of [run.blocks[0]?.output, run.blocks[1]?.input, run.blocks[1]?.output])
      assert.match(String(value), /^["{].*é… \[cut: 4096 of 1000\d\d characters\]$/);
    const step = await traceOf(id, 'a');
    assert.match(String(step.executions[0]?.output), /\[cut: 20000 of 100002 characters\]$/);
  });

  it('of a loop show each block execution, or of many the first and the last', async () => {
    const id = await execute([
      code('list', 'return Array.from({ length: 100 }, (_, i) => i);'),
      {
        type: 'loop',
        step_id: 'loop',
        name: 'loop',
        max_iterations: 100,
        body: [code('item', 'return input * 2;')],
      },
    ]);
    for (const step_id of ['item', 'loop']) {
      const { executions, left_out } = await traceOf(id, step_id);
      assert.deepEqual([executions.length, left_out], [60, 40]);
      assert.deepEqual(
        [executions[0], executions[1], executions.at(-1)].map((one) => [one?.key, one?.input, one?.output]),
        [
          ['item#0', 0, 0],
          ['item#1', 1, 2],
          ['item#99', 99, 198],
        ],
      );
    }
    assert.deepEqual(
      (await traceOf(id, 'list')).executions.map(({ key }) => key),
      ['list'],
    );
  });

  it('of a run that paused for tools and went on show both turns', async () => {
    const { key } = tests.tenant;
    const flow = await tests.weir.createFlow(tests.tenant, [
      llm('ask', 'look: {{message}}', 'demo/chat', { processor_config: { tools_enabled: true } }),
    ]);
    const tools = [{ type: 'function', function: { name: 'look_up' } }];
    const call = { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
    tests.models.will(
      respond(200, {
        choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }],
      }),
      answer('found'),
    );
    const paused = (
      await tests.weir.call('POST', `${flow}/execute`, { key, body: { message: 'here', tools } })
    ).body;
    assert.equal(paused.status, 'tool_calls_required');
    const { executionId, pausedAtStep, toolCallMessages, accumulatedOutputs, iterationsUsed } = paused;
    const messages = [...toolCallMessages, { role: 'tool', tool_call_id: 'c1', content: 'a stone' }];
    const resumed = await tests.weir.call('POST', `${flow}/execute`, {
      key,
      body: {
        executionId,
        pausedAtStep,
        toolCallMessages: messages,
        accumulatedOutputs,
        iterationsUsed,
        tools,
      },
    });
    assert.equal(resumed.body.status, 'completed', JSON.stringify(resumed.body));
    const { executions } = await traceOf(executionId, 'ask');
    assert.deepEqual(
      executions.map(({ status }) => status),
      ['paused', 'completed'],
    );
    assert.deepEqual(executions[0]?.sent, {
      model: 'demo/chat',
      messages: [{ role: 'user', content: 'look: here' }],
      tools: ['look_up'],
    });
    assert.match(JSON.stringify(executions[1]?.sent), /a stone/);
    assert.equal((await trace(executionId)).answer, 'found');
  });

  for (const [name, read] of [
    ['a run', trace],
    ['a step', (id: string) => traceOf(id, 'a')],
  ] as const)
    it(`of ${name} with large values wait for the turn of its organization to hold them`, async () => {
      const large = await execute([passthrough('a')], { message: 'x'.repeat(2 * SMALL_BYTES) });
      const small = await execute([passthrough('a')]);
      const { answers } = tests.weir.httpGates;
      const permit = await answers.acquire(tests.tenant.organizationId, { weight: REQUEST_BYTES_EACH });
      let isRead = false;
      const reading = read(large).then(() => {
        isRead = true;
      });
      await read(small);
      assert.equal(isRead, false);
      permit.release();
      await reading;
      const again = await answers.acquire(tests.tenant.organizationId, { weight: REQUEST_BYTES_EACH });
      again.release();
    });

  it('of a test case tell its verdict', async () => {
    const flowId = await tests.draft([passthrough('a')]);
    const id = await tests.testCase(flowId, { type: 'equals', value: 'other' });
    const { results, test_run_id } = await runTestCase(tests.deps, tests.ada, id);
    const run = await trace(results[0]?.flow_run_id ?? '');
    assert.deepEqual(
      [run.mode, run.version, run.test?.test_run_id, run.test?.test_case_id, run.test?.status],
      ['test', 0, test_run_id, id, 'failed'],
    );
    assert.match(run.test?.why ?? '', /is "hello"; expected "other"/);
  });

  it('of a step that the flow does not have name those it has', async () => {
    const id = await execute([passthrough('a'), passthrough('b')]);
    await assert.rejects(traceOf(id, 'z'), { code: 'NOT_FOUND', message: /no step "z".*: a, b\./ });
    await assert.rejects(traceStep(tests.deps, { userId: 'eve' }, { flow_run_id: id, step_id: 'a' }), {
      code: 'NOT_FOUND',
      message: /no such run/,
    });
  });
});
