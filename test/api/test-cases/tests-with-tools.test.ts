import assert from 'node:assert/strict';
import { runTestCase } from '../../../api/test-cases/run-tests.ts';
import type { Step } from '../../../flow/definition.ts';
import { code, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { asking as askingOf, toolCall, weather } from '../runs/tool-calls-harness.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

const TIME = { type: 'function', function: { name: 'get_time' } };

/** Like the harness's block, with a model of the scripted server. */
const asking = (stepId: string, more = {}) =>
  askingOf(stepId, '{{message}}', { model: 'demo/chat', ...more });

describe('test cases with tools', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());

  const run = async (steps: Step[], expectation: unknown, more = {}) => {
    const id = await tests.testCase(await tests.draft(steps), expectation, more);
    const { results, cost } = await runTestCase(tests.deps, tests.ada, id);
    const [result] = results;
    assert(result);
    return { total: cost, ...result };
  };
  const results = (...all: [name: string, result: unknown][]) =>
    all.map(([name, result]) => ({ name, result }));

  it('answer each call of a tool with the next result of its name, in every round and block', async () => {
    const { models } = tests;
    models.will(
      callTools([toolCall('1'), toolCall('2', '{}', 'get_time')]),
      callTools([toolCall('3', '{"city":"Rome"}')]),
      answer('first'),
      callTools([toolCall('4')]),
      answer('sunny at noon'),
    );
    const before = models.calls.length;
    const steps = [code('start', 'return { kept: 1 };'), asking('ask'), asking('again'), passthrough('end')];
    const result = await run(
      steps,
      { type: 'contains', text: 'sunny' },
      {
        tools: [weather, TIME],
        tool_results: results(
          ['get_weather', { sky: 'grey' }],
          ['get_weather', 'rain'],
          ['get_time', 'noon'],
          ['get_weather', 'snow'],
        ),
      },
    );
    assert.deepEqual([result.status, result.why], ['passed', null]);
    assert.equal(result.answer, 'sunny at noon');
    const sent = models.calls.slice(before).map(({ body }) => body);
    assert.deepEqual(sent[0]?.tools, [weather, TIME]);
    type Message = { role: string; content: string };
    const toolMessages = sent.map((body) =>
      ((body?.messages ?? []) as Message[]).flatMap(({ role, content }) => (role === 'tool' ? content : [])),
    );
    assert.deepEqual(toolMessages, [
      [],
      ['{"sky":"grey"}', 'noon'],
      ['{"sky":"grey"}', 'noon', 'rain'],
      [],
      ['snow'],
    ]);
    // The cost has every round.
    const { cost } = await tests.weir.db
      .selectFrom('block_run')
      .innerJoin('run', 'run.execution_id', 'block_run.execution_id')
      .select((eb) => eb.fn.sum<string>('block_run.cost_microcredits').as('cost'))
      .where((eb) =>
        eb.or([
          eb('run.execution_id', '=', result.flow_run_id),
          eb('run.continues', '=', result.flow_run_id),
        ]),
      )
      .executeTakeFirstOrThrow();
    assert.equal(result.total, Number(cost) / 1_000_000);
    assert(result.total > 0);
  });

  it('fail with the call for which they have no result', async () => {
    tests.models.will(callTools([toolCall('1')]), callTools([toolCall('2', '{"city":"Rome"}')]));
    const { status, why } = await run(
      [asking('ask')],
      { type: 'contains', text: 'x' },
      {
        tools: [weather],
        tool_results: results(['get_weather', 'rain']),
      },
    );
    assert.equal(status, 'failed');
    assert.equal(
      why,
      'The model called the tool get_weather with {"city":"Rome"}. The test case has only 1 result of this tool: add one to its tool_results.',
    );
    tests.models.will(callTools([toolCall('1')]));
    const none = await run([asking('ask')], { type: 'contains', text: 'x' }, { tools: [weather] });
    assert.match(none.why ?? '', /The test case has no result of this tool/);
  });

  it('fail when a block calls tools in more rounds than it may', async () => {
    const once = { processor_config: { tools_enabled: true, max_tool_iterations: 1 } };
    tests.models.will(callTools([toolCall('1')]), callTools([toolCall('2')]));
    const { status, why } = await run(
      [asking('ask', once)],
      { type: 'contains', text: 'x' },
      {
        tools: [weather],
        tool_results: results(['get_weather', 'rain'], ['get_weather', 'rain']),
      },
    );
    assert.equal(status, 'failed');
    assert.match(why ?? '', /max_tool_iterations is 1/);
  });

  it('are errors on a flow that takes no tools', async () => {
    const { status, why } = await run(
      [passthrough('a')],
      { type: 'contains', text: 'x' },
      { tools: [weather] },
    );
    assert.equal(status, 'error');
    assert.match(why ?? '', /No block of this flow has processor_config\.tools_enabled/);
  });

  it('are refused with a result of a tool that they do not have', async () => {
    const flowId = await tests.draft([asking('ask')]);
    const more = { tools: [weather], tool_results: results(['get_weather', 1], ['get_wether', 2]) };
    await assert.rejects(tests.testCase(flowId, { type: 'contains', text: 'x' }, more), {
      code: 'VALIDATION_ERROR',
      message: /tool_results\.1\.name/,
    });
  });

  it('are refused with parameters of a tool that are no JSON Schema', async () => {
    const flowId = await tests.draft([asking('ask')]);
    const wrong = { type: 'function', function: { name: 'get_time', parameters: { type: 'text' } } };
    const more = { tools: [weather, wrong], tool_results: [] };
    await assert.rejects(tests.testCase(flowId, { type: 'contains', text: 'x' }, more), {
      code: 'VALIDATION_ERROR',
      message: /^tools\.1\.function\.parameters: The JSON Schema cannot be used at \/type/,
    });
  });
});
