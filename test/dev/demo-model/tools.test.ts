import assert from 'node:assert/strict';
import { OpenAI } from 'openai';
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction';
import { startDemoModelServer } from '../../../dev/demo-model/server.ts';

type Choice = OpenAI.Chat.ChatCompletionToolChoiceOption;

const weather: OpenAI.Chat.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const time: OpenAI.Chat.ChatCompletionFunctionTool = { type: 'function', function: { name: 'get_time' } };

describe('tools of the demo model', () => {
  const tools = [weather, time];
  let server: { url: string; close(): Promise<void> };
  let client: OpenAI;

  before(async () => {
    server = await startDemoModelServer();
    client = new OpenAI({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
  });
  after(() => server.close());

  const cases: [Choice, string, string[]][] = [
    ['required', 'Hello Paris', ['get_weather']],
    [{ type: 'function', function: { name: 'get_time' } }, 'Hello', ['get_time']],
    ['auto', 'Use get_weather and get_time', ['get_weather', 'get_time']],
    ['auto', 'Hello', []],
    ['none', 'Use get_weather', []],
  ];
  for (const [tool_choice, content, expected] of cases) {
    it(`are called, or not, for ${JSON.stringify(tool_choice)} and "${content}"`, async () => {
      const messages = [{ role: 'user' as const, content }];
      const answer = await client.chat.completions.create({ model: 'chat', messages, tools, tool_choice });
      const [choice] = answer.choices;
      const calls = (choice?.message.tool_calls ?? []).filter((call) => call.type === 'function');
      assert.deepEqual(
        calls.map((call) => call.function.name),
        expected,
      );
      assert.equal(choice?.finish_reason, expected.length > 0 ? 'tool_calls' : 'stop');
      assert.equal(new Set(calls.map(({ id }) => id)).size, expected.length);
    });
  }

  it('work with the tool runner of the SDK, to an answer that uses the results', async () => {
    const tool: RunnableToolFunctionWithParse<{ city: string }> = {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather',
        parameters: weather.function.parameters ?? {},
        parse: JSON.parse,
        function: ({ city }) => `sunny in ${city}`,
      },
    };
    const runner = client.chat.completions.runTools({
      model: 'chat',
      messages: [{ role: 'user', content: 'Ask get_weather about Paris' }],
      tools: [tool],
    });
    assert.equal(await runner.finalContent(), 'Demo answer from tool results: sunny in Ask get weather');
  });

  it('come in a stream', async () => {
    const runner = client.chat.completions.stream({
      model: 'chat',
      messages: [{ role: 'user', content: 'Hello' }],
      tools,
      tool_choice: 'required',
    });
    const [choice] = (await runner.finalChatCompletion()).choices;
    assert.equal(choice?.message.tool_calls?.[0]?.function.name, 'get_weather');
  });
});
