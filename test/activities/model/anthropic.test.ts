import assert from 'node:assert/strict';
import type { ModelRequest } from '../../../activities/model/ask-model.ts';
import { UNUSED } from '../../../activities/record-block-end.ts';
import type { Block } from '../../../flow/definition.ts';
import type { ToolDefinition } from '../../../flow/tool-calls.ts';
import { type FakeAnthropic, fail, startFakeAnthropic } from '../../fakes/anthropic-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const MODEL = 'anthropic/claude-sonnet-4-5';
const tools: ToolDefinition[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Now',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
];
const toolUse = (id: string, input: unknown = { city: 'Oslo' }) => ({
  type: 'tool_use',
  id,
  name: 'get_weather',
  input,
});

describe('the Messages API of Anthropic', () => {
  const harness = useAskModel();
  let server: FakeAnthropic;
  beforeEach(async () => {
    server = await startFakeAnthropic();
  });
  afterEach(() => server.close());
  const call = (block: Partial<Block> = {}, more: Partial<ModelRequest> = {}) =>
    harness.call({ model: MODEL, ...block }, undefined, { begin: async () => server.provider, ...more });
  const sent = () => server.calls.at(-1)?.body;
  // biome-ignore lint/suspicious/noExplicitAny: conversations of every shape
  const pauseWith = async (content: unknown[], block: Partial<Block> = {}): Promise<any[]> => {
    server.will(server.say(content, { stop: 'tool_use' }));
    const { output, paused } = await call(block, { tools });
    assert.equal(paused, true);
    return output as never;
  };
  const resume = (conversation: unknown[], block: Partial<Block> = {}, more: Partial<ModelRequest> = {}) =>
    call(block, { tools, conversation: conversation as never, ...more });

  it('gets system, prompt, limit and settings in its own fields', async () => {
    server.will(server.say('Hi'));
    const { output } = await call({
      processor_config: {
        system: 'Be brief.',
        temperature: 0.5,
        stop: 'END',
        max_tokens: 100,
        prompt_cache: 'off',
      },
    });
    assert.equal(output, 'Hi');
    assert.deepEqual(sent(), {
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Who was Ada?' }] }],
      temperature: 0.5,
      stop_sequences: ['END'],
    });
  });

  it('gets the longest answer of the model where the block sets none', async () => {
    server.will(server.say('Hi'));
    await call();
    assert.equal(sent().max_tokens, 64_000);
  });

  for (const path of ['', '/', '/v1', '/v1/'])
    it(`is found at a base URL that ends with "${path}"`, async () => {
      server.will(server.say('Hi'));
      const provider = { ...server.provider, baseUrl: server.origin + path };
      assert.equal((await call({}, { begin: async () => provider })).output, 'Hi');
    });

  it('gets no credentials and headers from variables of its SDK', async () => {
    const variables = {
      ANTHROPIC_AUTH_TOKEN: 'strange',
      ANTHROPIC_CUSTOM_HEADERS: 'x-strange: yes',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/',
    };
    const before = { ...process.env };
    Object.assign(process.env, variables);
    try {
      server.will(server.say('Hi'));
      await call();
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
      Object.assign(process.env, before);
    }
    const { headers } = server.calls[0] ?? {};
    assert.equal(headers?.['x-api-key'], 'key-of-the-test');
    assert.equal(headers?.['x-strange'], undefined);
    assert.equal(headers?.authorization, undefined);
  });

  it('gets images by URL, and as base64 from a data URL', async () => {
    server.will(server.say('A cat'), server.say('A dot'));
    const attachment = (url: string) => [{ kind: 'url', url, mime_type: 'image/png' }] as never;
    await call({}, { attachments: attachment('https://img.example/c.png') });
    assert.deepEqual(sent().messages[0].content[1], {
      type: 'image',
      source: { type: 'url', url: 'https://img.example/c.png' },
    });
    await call({}, { attachments: attachment('data:image/png;base64,iVBORw0KGgo=') });
    assert.deepEqual(sent().messages[0].content[1].source, {
      type: 'base64',
      media_type: 'image/png',
      data: 'iVBORw0KGgo=',
    });
  });

  it('answers tool calls, which go back with their results in one turn', async () => {
    const paused = await pauseWith([
      { type: 'text', text: 'Let me see' },
      toolUse('toolu_1'),
      toolUse('toolu_2'),
    ]);
    const [, asked] = paused;
    assert.equal(asked.content, 'Let me see');
    assert.deepEqual(asked.tool_calls[0], {
      id: 'toolu_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
    });
    assert.deepEqual(sent().tools[0].input_schema, tools[0]?.function.parameters);
    server.will(server.say('sunny'));
    const results = ['toolu_1', 'toolu_2'].map((id) => ({ role: 'tool', tool_call_id: id, content: '12 C' }));
    assert.equal((await resume([...paused, ...results])).output, 'sunny');
    assert.deepEqual(
      sent().messages.map(({ role, content }: { role: string; content: { type: string }[] }) => [
        role,
        content.map(({ type }) => type),
      ]),
      [
        ['user', ['text']],
        ['assistant', ['text', 'tool_use', 'tool_use']],
        ['user', ['tool_result', 'tool_result']],
      ],
    );
  });

  it('gets its thinking back unchanged, and redacted thinking too', async () => {
    const thinking = { type: 'thinking', thinking: 'They want the weather.', signature: 'EqQBCgIYAhIM' };
    const redacted = { type: 'redacted_thinking', data: 'EmwKAhgBEgy3' };
    const block = { processor_config: { reasoning_effort: 'low' as const } };
    const paused = await pauseWith([thinking, redacted, toolUse('toolu_1')], block);
    assert.equal(paused[1].content, null);
    assert.deepEqual(sent().thinking, { type: 'enabled', budget_tokens: 4_096 });
    server.will(server.say('sunny'));
    const result = { role: 'tool', tool_call_id: 'toolu_1', content: '12 C' };
    await resume([...JSON.parse(JSON.stringify(paused)), result], block);
    assert.deepEqual(sent().messages[1].content, [thinking, redacted, toolUse('toolu_1')]);
  });

  it('gets its thinking back where a gateway has another name for the model', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm', signature: 'EqQBCgIYAhIM' };
    const block = { model: 'anthropic/claude-smart' };
    const paused = await pauseWith([thinking, toolUse('toolu_1')], block);
    server.will(server.say('sunny'));
    const result = { role: 'tool', tool_call_id: 'toolu_1', content: '12 C' };
    await resume([...paused, result], block);
    assert.deepEqual(sent().messages[1].content, [thinking, toolUse('toolu_1')]);
  });

  it('is read where a gateway sends its text alone', async () => {
    server.will((response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ role: 'assistant', content: 'Oslo', stop_reason: 'end_turn' })),
    );
    assert.equal((await call()).output, 'Oslo');
  });

  it('gets no thinking of another model', async () => {
    const paused = await pauseWith([
      { type: 'thinking', thinking: 'Hm', signature: 'EqQBCgIYAhIM' },
      toolUse('toolu_1'),
    ]);
    server.will(server.say('sunny'));
    const result = { role: 'tool', tool_call_id: 'toolu_1', content: '12 C' };
    await resume([...paused, result], { model: 'anthropic/claude-opus-5-5' });
    assert.deepEqual(sent().messages[1].content, [toolUse('toolu_1')]);
  });

  it('goes on without thinking when a turn with calls has lost it', async () => {
    const call = { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
    const conversation = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'toolu_1', content: '' },
    ];
    server.will(server.say('sunny'));
    await resume(conversation, { processor_config: { reasoning_effort: 'high' } });
    assert.equal(sent().thinking, undefined);
  });

  it('keeps each digit of the numbers in tool calls', async () => {
    const digits = '12345678901234567890';
    server.will((response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          `{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"n":${digits}}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
        ),
    );
    const { output } = await call({}, { tools });
    const paused = output as unknown as { tool_calls: { function: { arguments: string } }[] }[];
    assert.equal(paused[1]?.tool_calls[0]?.function.arguments, `{"n":${digits}}`);
    server.will(server.say('sunny'));
    await resume([...paused, { role: 'tool', tool_call_id: 'toolu_1', content: 'x' }]);
    assert.match(server.calls.at(-1)?.text ?? '', new RegExp(`"input":\\{"n":${digits}\\}`));
  });

  for (const [choice, expected] of [
    ['auto', { type: 'auto' }],
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', function: { name: 'get_weather' } },
      { type: 'tool', name: 'get_weather' },
    ],
  ] as const)
    it(`gets the tool choice ${JSON.stringify(choice)} in its own form`, async () => {
      server.will(server.say('Hi'));
      const block = {
        model: 'anthropic/claude-opus-5',
        processor_config: { reasoning_effort: 'xhigh' as const },
      };
      await call(block, { tools, tool_choice: choice as never });
      assert.deepEqual(sent().tool_choice, expected);
    });

  for (const [model, effort, expected] of [
    ['claude-opus-4-1', 'high', [{ type: 'enabled', budget_tokens: 16_384 }, undefined]],
    ['claude-haiku-4-5', 'minimal', [{ type: 'enabled', budget_tokens: 1_024 }, undefined]],
    ['claude-sonnet-4-6', 'xhigh', [{ type: 'adaptive' }, { effort: 'max' }]],
    ['claude-opus-4-8', 'xhigh', [{ type: 'adaptive' }, { effort: 'xhigh' }]],
    ['claude-opus-4-8', 'none', [undefined, undefined]],
    ['claude-opus-5', 'none', [{ type: 'disabled' }, undefined]],
    ['claude-opus-5-5', 'minimal', [{ type: 'adaptive' }, { effort: 'low' }]],
    ['claude-opus-5-5', undefined, [undefined, undefined]],
  ] as const)
    it(`lets ${model} think as reasoning_effort ${effort} says`, async () => {
      server.will(server.say('Hi'));
      const config = { prompt_cache: 'off' as const, ...(effort && { reasoning_effort: effort }) };
      await call({ model: `anthropic/${model}`, processor_config: config });
      assert.deepEqual([sent().thinking, sent().output_config], expected);
    });

  for (const [max_tokens, thinking] of [
    [4_096, { type: 'enabled', budget_tokens: 3_072 }],
    [1_200, { type: 'enabled', budget_tokens: 1_024 }],
    [1_024, undefined],
  ] as const)
    it(`leaves tokens for the answer when it may think, of ${max_tokens}`, async () => {
      server.will(server.say('Hi'));
      const processor_config = { max_tokens, reasoning_effort: 'high' as const };
      await call({ model: 'anthropic/claude-haiku-4-5', processor_config });
      assert.deepEqual(sent().thinking, thinking);
    });

  it('gets an outputSchema as its format, with limits in the description', async () => {
    const properties = { n: { type: 'integer', minimum: 1, description: 'How many' } };
    const outputSchema = { type: 'object', properties, required: ['n'], additionalProperties: false };
    server.will(server.say('{"n":1}'));
    assert.deepEqual((await call({ outputSchema })).output, { n: 1 });
    const { schema } = sent().output_config.format;
    assert.deepEqual(schema.properties.n, { type: 'integer', description: 'How many (minimum: 1)' });
  });

  it('gets a schema that its format cannot express as an instruction', async () => {
    const outputSchema = { type: 'object', additionalProperties: { type: 'integer' } };
    server.will(server.say('{"n":1}'));
    assert.deepEqual((await call({ outputSchema })).output, { n: 1 });
    assert.equal(sent().output_config, undefined);
    assert.match(sent().system[0].text, /JSON Schema/);
  });

  it('gets marks for its cache on what stays the same, and where the conversation goes on', async () => {
    const cache_control = { type: 'ephemeral' };
    server.will(server.say('Hi'), server.say('Hi'), server.say('Hi'));
    await call({ processor_config: { system: 'Be brief.' } }, { tools });
    assert.deepEqual(sent().system, [{ type: 'text', text: 'Be brief.', cache_control }]);
    assert.deepEqual(sent().messages[0].content[0].cache_control, cache_control);
    await call({ processor_config: { prompt_cache: '1h' } }, { tools });
    assert.deepEqual(sent().tools[0].cache_control, { ...cache_control, ttl: '1h' });
    await call();
    assert.doesNotMatch(server.calls.at(-1)?.text ?? '', /cache_control/);
  });

  it('reports input from and into its cache as part of the input', async () => {
    const usage = {
      input_tokens: 50,
      cache_read_input_tokens: 9_000,
      cache_creation_input_tokens: 1_000,
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
      output_tokens: 100,
    };
    server.will(server.say('Hi', { usage }));
    const { promptTokens, completionTokens } = await call();
    assert.deepEqual([promptTokens, completionTokens], [10_050, 100]);
  });

  it('is charged as the tier, and the cost, of its usage says', async () => {
    const usage = { input_tokens: '100', output_tokens: 10, service_tier: 'batch' };
    server.will(server.say('Hi', { usage }), server.say('Hi', { usage: { cost: 0.25 } }));
    assert.equal((await call()).costMicrocredits, (100 * 300 + 10 * 1_500) / 2);
    const name = 'openrouter';
    harness.usage = { ...UNUSED };
    const begin = async () => ({ ...server.provider, name });
    assert.equal((await call({ model: `${name}/claude-x` }, { begin })).costMicrocredits, 25_000_000);
  });

  it('is estimated where a gateway counts no input', async () => {
    server.will(server.say('Hi', { usage: { input_tokens: null } }));
    const { promptTokens, isEstimated } = await call();
    assert.ok(isEstimated && promptTokens > 0);
  });

  for (const stop of ['end_turn', 'stop_sequence', null])
    it(`has ended normally with the stop reason ${stop}`, async () => {
      server.will(server.say('Hi', { stop }));
      assert.equal((await call()).output, 'Hi');
    });

  for (const [stop, code, message] of [
    ['max_tokens', 'MODEL_OUTPUT_INCOMPLETE', /cut off/],
    ['refusal', 'MODEL_REFUSED', /refused/],
  ] as const)
    it(`has failed with the stop reason ${stop}`, async () => {
      server.will(server.say('Half', { stop }));
      await assert.rejects(call(), fails(code, message));
    });

  it('explains a refusal', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'This asks for malware.' };
    server.will(server.say('', { stop: 'refusal', more: { content: [], stop_details } }));
    await assert.rejects(call(), fails('MODEL_REFUSED', /This asks for malware/));
  });

  it('is asked again when it is overloaded, and not when it refuses the request', async () => {
    server.will(fail(529, 'overloaded_error', 'Overloaded'));
    await assert.rejects(call(), { name: 'ModelUnavailable', message: /Overloaded/ });
    server.will(fail(404, 'not_found_error', 'model: claude-9'));
    await assert.rejects(call(), fails('MODEL_NOT_FOUND', /claude-9/));
    server.will(fail(401, 'authentication_error', 'invalid x-api-key'));
    await assert.rejects(call(), fails('MODEL_KEY_REJECTED', /invalid x-api-key/));
    server.will(fail(400, 'invalid_request_error', 'prompt is too long: 201000 tokens > 200000 maximum'));
    await assert.rejects(call(), fails('PROMPT_TOO_LARGE', /201000/));
  });
});
