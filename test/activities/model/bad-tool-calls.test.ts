// Tool calls that nobody can run: the model gets a result for each and answers again.
import assert from 'node:assert/strict';
import type { ToolCallMessage, ToolDefinition } from '../../../flow/tool-calls.ts';
import { answer, callTools, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const tools: ToolDefinition[] = ['f', 'get_weather'].map((name) => ({
  type: 'function',
  function: { name },
}));
const call = (name: unknown, args: unknown = '{}', id = 'c') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

// biome-ignore lint/suspicious/noExplicitAny: messages of every shape
type Sent = any[];

describe('askModel, of tool calls that nobody can run,', () => {
  const harness = useAskModel();
  const ask = (more: object = {}) => harness.call({}, undefined, { tools, ...more });
  const sent = (index: number) => harness.server.calls[index]?.body.messages as Sent;

  for (const [name, calls, message] of [
    ['are not a list', 'many', /names no tool/],
    ['have no function', [{}], /names no tool/],
    ['have a name that is not text', [call(1)], /names no tool/],
    ['have no name', [call('')], /names no tool/],
    ['are of another type', [{ ...call('f'), type: 'custom' }], /type "function"/],
    [
      'name a tool that was not offered',
      [call('g')],
      /There is no tool "g"\. The tools are f, get_weather\./,
    ],
    ['name two tools', [call('f.get_weather')], /There is no tool/],
    ['only begin as a tool does', [call('get_weather_history')], /There is no tool/],
    ['have a key of objects for a name', [call('constructor')], /There is no tool/],
    ['have arguments that are not JSON', [call('f', 'not json')], /one JSON object; they are "not json"/],
    ['have arguments that were cut off', [call('f', '{"a":')], /one JSON object/],
    ['have a list for arguments', [call('f', [1])], /one JSON object/],
    ['have the text of a list for arguments', [call('f', '[1]')], /one JSON object/],
    ['have a number for arguments', [call('f', 1)], /one JSON object/],
    ['are too many', Array(129).fill(call('f')), /129 tools at once; at most 128/],
  ] as const)
    it(`asks again with the reason where they ${name}, and charges both answers`, async () => {
      harness.server.will(callTools(calls as never), answer('Sunny'));
      const reply = await ask();
      assert.deepEqual([reply.output, reply.paused, reply.promptTokens], ['Sunny', undefined, 20]);
      const [prompt, asked, ...results] = sent(1);
      assert.equal(prompt.role, 'user');
      assert.match(results[0].content, message);
      assert.deepEqual(
        results.map(({ role, tool_call_id }) => [role, tool_call_id]),
        asked.tool_calls.map(({ id }: { id: string }) => ['tool', id]),
      );
      for (const { id, type, function: called } of asked.tool_calls) {
        assert.deepEqual([typeof id, type], ['string', 'function']);
        assert.match(called.name, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
        assert.equal(typeof JSON.parse(called.arguments), 'object');
      }
      assert.deepEqual(harness.server.calls[1]?.body.tools, harness.server.calls[0]?.body.tools);
    });

  for (const [name, args] of [
    ['nested far too deep', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['has a number that would become null', '{"a":1e400}'],
  ])
    it(`asks again where arguments came as an object that ${name}`, async () => {
      const message = `{"tool_calls":[{"function":{"name":"f","arguments":${args}}}]}`;
      harness.server.will(respond(200, `{"choices":[{"message":${message}}]}`), answer('ok'));
      assert.equal((await ask()).output, 'ok');
      assert.match(sent(1)[2].content, /one JSON object; they are "object"/);
    });

  it('tells the model that the good calls beside them were not run', async () => {
    harness.server.will(callTools([call('f', '{"a":1}', 'good'), call('g', '{}', 'bad')]), answer('ok'));
    await ask();
    const [, asked, ofGood, ofBad] = sent(1);
    assert.deepEqual(asked.tool_calls[0], call('f', '{"a":1}', 'good'));
    assert.deepEqual([ofGood.tool_call_id, ofBad.tool_call_id], ['good', 'bad']);
    assert.match(ofGood.content, /was not run, because another call/);
    assert.match(ofBad.content, /There is no tool "g"/);
  });

  it('hands out the turns in the conversation of the pause that follows, their state too', async () => {
    const bad = {
      role: 'assistant',
      content: '',
      reasoning_content: 'Hm',
      tool_calls: [call('g', '{}', 'b')],
    };
    harness.server.will(respond(200, { choices: [{ message: bad }] }), callTools([call('f')]));
    const { output, paused } = await ask();
    const [, first, result, last] = output as Sent;
    assert.equal(paused, true);
    assert.deepEqual([first, last.tool_calls], [bad, [call('f')]]);
    assert.deepEqual([result.role, result.tool_call_id], ['tool', 'b']);
  });

  for (const name of [
    'functions.get_weather',
    'get_weather<|channel|>commentary',
    'default_api:get_weather',
    'functions/get_weather:0',
    'mcp__weather__get_weather',
    ' get_weather\n',
    'Get_Weather',
    'FUNCTIONS.GET_WEATHER',
  ])
    it(`hands out a call of ${JSON.stringify(name)} as one of the offered tool in that name`, async () => {
      harness.server.will(callTools([call(name)]));
      const { output, paused } = await ask();
      assert.equal(paused, true);
      assert.deepEqual((output as Sent)[1].tool_calls, [call('get_weather')]);
    });

  it('fails after five such answers in a row, all of them charged', async () => {
    harness.server.will(...Array(5).fill(callTools([call('g')])));
    await assert.rejects(ask(), fails('MODEL_OUTPUT_INVALID', /in 5 answers in a row: There is no tool "g"/));
    assert.deepEqual([harness.server.calls.length, harness.usage.promptTokens], [5, 50]);
  });

  it('asks no more often than the block may ask for tools', async () => {
    harness.server.will(callTools([call('g')]), callTools([call('g')]));
    await assert.rejects(ask({ roundsLeft: 1 }), fails('MODEL_OUTPUT_INVALID', /in 2 answers/));
    assert.equal(harness.server.calls.length, 2);
  });

  it('fails at once where such an answer is too large to be kept', async () => {
    harness.server.will(callTools([call('g')]));
    await assert.rejects(ask({ keepAnswer: () => false }), fails('MODEL_OUTPUT_INVALID', /in 1 answer:/));
    assert.equal(harness.server.calls.length, 1);
  });

  it('fails at once where there are more of them than any conversation holds', async () => {
    harness.server.will(callTools(Array(10_001).fill(0)));
    await assert.rejects(ask(), fails('MODEL_OUTPUT_INVALID', /there are 10001 of them/));
    assert.equal(harness.server.calls.length, 1);
  });

  it('goes on after the turns of an earlier attempt', async () => {
    const turns: ToolCallMessage[] = [
      { role: 'assistant', content: null, tool_calls: [call('g') as never] },
      { role: 'tool', tool_call_id: 'c', content: 'There is no tool "g".' },
    ];
    harness.server.will(callTools([call('f')]));
    const { output } = await ask({ turns });
    assert.deepEqual(sent(0).slice(1), turns);
    assert.equal((output as Sent).length, 4);
  });
});
