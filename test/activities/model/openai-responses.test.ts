import assert from 'node:assert/strict';
import type { ModelRequest } from '../../../activities/model/ask-model.ts';
import type { Block } from '../../../flow/definition.ts';
import type { AssistantMessage, ToolCallMessage, ToolDefinition } from '../../../flow/tool-calls.ts';
import { respond } from '../../fakes/model-server.ts';
import { type FakeResponses, startFakeResponses } from '../../fakes/responses-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'get_weather', description: 'Now' } }];
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAABo' };
const called = {
  type: 'function_call',
  id: 'fc_1',
  status: 'completed',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
};

describe('the Responses API of OpenAI', () => {
  const harness = useAskModel();
  let server: FakeResponses;
  beforeEach(async () => {
    server = await startFakeResponses();
  });
  afterEach(() => server.close());
  const call = (block: Partial<Block> = {}, more: Partial<ModelRequest> = {}) =>
    harness.call({ model: 'openai/gpt-5', ...block }, undefined, {
      begin: async () => server.provider,
      ...more,
    });
  const sent = () => server.calls.at(-1)?.body;

  it('is called where a block asks for it, and not where the block asks for Chat Completions', async () => {
    server.will(server.give('Hi'));
    const begin = async () => ({ ...server.provider, api: 'openai-chat' as const });
    const { output } = await call({ processor_config: { api: 'openai-responses' } }, { begin });
    assert.equal(output, 'Hi');
    await assert.rejects(
      call({ processor_config: { api: 'openai-chat' } }),
      fails('MODEL_NOT_FOUND', /Not Found/),
    );
  });

  it('is called, and remembered for a day, where the model refuses tools in Chat Completions', async () => {
    const begin = async () => ({ ...server.provider, api: 'openai-chat' as const });
    const block = { model: 'openai/gpt-6-luna' };
    server.will(server.give([reasoning, called]), server.give('Cold'));
    const paused = await call(block, { begin, tools });
    assert.equal(paused.paused, true);
    const { provider_state: state } = (paused.output as ToolCallMessage[]).at(-1) as AssistantMessage;
    assert.equal(state?.api, 'openai-responses');
    const results = { role: 'tool' as const, tool_call_id: called.call_id, content: 'Snow' };
    const conversation = [...(paused.output as ToolCallMessage[]), results];
    assert.equal((await call(block, { begin, tools, conversation })).output, 'Cold');
    assert.deepEqual(
      sent().input.map(({ type, role }: { type?: string; role?: string }) => type ?? role),
      ['user', 'reasoning', 'function_call', 'function_call_output'],
    );
    assert.equal(server.refused.length, 1, 'the second request was refused too');
  });

  it('stores nothing, and gets prompt, limit and settings in its own fields', async () => {
    server.will(server.give('Hi'));
    await call({ processor_config: { system: 'Be brief.', max_tokens: 100, reasoning_effort: 'low' } });
    assert.deepEqual(sent(), {
      model: 'gpt-5',
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Who was Ada?' },
      ],
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 100,
      reasoning: { effort: 'low' },
    });
  });

  it('asks a model that does not reason for no encrypted reasoning', async () => {
    server.will(server.give('Hi'), server.give('Hi'));
    await call({ model: 'openai/gpt-4o', processor_config: { temperature: 0 } });
    assert.equal(sent().include, undefined);
    await call({ model: 'openai/gpt-5-chat-latest' });
    assert.equal(sent().include, undefined);
  });

  it('asks a model of an unlisted name for encrypted reasoning', async () => {
    server.will(server.give('Hi'));
    await call({ model: 'openai/think1' });
    assert.deepEqual(sent().include, ['reasoning.encrypted_content']);
  });

  it('asks a model that refuses encrypted reasoning at once without it, and not again', async () => {
    server.will(server.give('Hi'), server.give('Hi'));
    const block = { model: 'openai/gpt-99-x' };
    assert.equal((await call(block)).output, 'Hi');
    assert.equal((await call(block)).output, 'Hi');
    assert.equal(server.refused.length, 1);
    assert.equal(sent().include, undefined);
  });

  it('gets no reasoning back that is not encrypted, nor the ids of items that depend on it', async () => {
    server.will(server.give([reasoning, called]));
    const { output } = await call({ model: 'openai/gpt-5-chat' }, { tools });
    const conversation = JSON.parse(JSON.stringify(output));
    assert.equal(conversation[1].provider_state.output[0].encrypted_content, null);
    server.will(server.give('sunny'));
    const result = { role: 'tool', tool_call_id: 'call_1', content: '12 C' };
    const more = { tools, conversation: [...conversation, result] };
    assert.equal((await call({ model: 'openai/gpt-5-chat' }, more)).output, 'sunny');
    assert.deepEqual(sent().input.slice(1), [
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '12 C' },
    ]);
  });

  it('gets images, and an outputSchema as the format of its text', async () => {
    const outputSchema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    };
    const attachments = [{ kind: 'url', url: 'https://img.example/c.png', mime_type: 'image/png' }] as never;
    server.will(server.give('{"n":1}'));
    assert.deepEqual((await call({ outputSchema }, { attachments })).output, { n: 1 });
    assert.deepEqual(sent().input[0].content[1], {
      type: 'input_image',
      image_url: 'https://img.example/c.png',
      detail: 'auto',
    });
    assert.deepEqual(sent().text.format, {
      type: 'json_schema',
      name: 'output',
      schema: outputSchema,
      strict: true,
    });
  });

  it('gets its reasoning back unchanged with the results of its calls', async () => {
    server.will(server.give([reasoning, called]));
    const { output, paused } = await call({}, { tools, tool_choice: 'required' });
    assert.equal(paused, true);
    assert.equal(sent().tool_choice, 'required');
    const conversation = JSON.parse(JSON.stringify(output));
    assert.deepEqual(conversation[1].tool_calls[0].function, {
      name: 'get_weather',
      arguments: '{"city":"Oslo"}',
    });
    server.will(server.give('sunny'));
    const result = { role: 'tool', tool_call_id: 'call_1', content: '12 C' };
    const more = { tools, conversation: [...conversation, result] };
    assert.equal((await call({}, more)).output, 'sunny');
    assert.deepEqual(sent().input.slice(1), [
      reasoning,
      called,
      { type: 'function_call_output', call_id: 'call_1', output: '12 C' },
    ]);
  });

  it('gets no nulls back, and no field that its provider refuses', async () => {
    server.will(server.give([{ ...reasoning, status: null, content: null }, called]));
    const { output } = await call({}, { tools });
    server.will(server.give('sunny'));
    const result = { role: 'tool', tool_call_id: 'call_1', content: '12 C' };
    const conversation = [...JSON.parse(JSON.stringify(output)), result];
    const begin = async () => ({ ...server.provider, refusedFields: ['status'] });
    await call({}, { tools, conversation, begin });
    const [, first, second] = sent().input;
    const { status: _, ...rest } = called;
    assert.deepEqual([first, second], [reasoning, rest]);
  });

  it('gets reasoning back that a server of another maker has written out', async () => {
    const written = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm' }],
    };
    const give = (output: object[]) => respond(200, { object: 'response', status: 'completed', output });
    const begin = async () => ({ ...harness.server.provider, api: 'openai-responses' as const });
    harness.server.will(give([written, called]), give([{ type: 'message', content: 'sunny' }]));
    const { output } = await call({}, { tools, begin });
    const result = { role: 'tool', tool_call_id: 'call_1', content: '12 C' };
    await call({}, { tools, begin, conversation: [...JSON.parse(JSON.stringify(output)), result] });
    const [, first] = (harness.server.calls[1]?.body.input ?? []) as object[];
    assert.deepEqual(first, written);
  });

  for (const [name, message] of [
    ['one text', { content: 'Oslo' }],
    ['parts of another type', { content: [{ type: 'text', text: 'Oslo' }] }],
  ] as const)
    it(`is read where a message has ${name}`, async () => {
      server.will(server.give([{ type: 'message', id: 'm', role: 'assistant', ...message }]));
      assert.equal((await call()).output, 'Oslo');
    });

  it('gets a turn of another API as text and calls', async () => {
    server.will(server.give('sunny'));
    const asked = {
      role: 'assistant',
      content: 'Let me see',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      provider_state: { api: 'anthropic', content: [{ type: 'text', text: 'Let me see' }] },
    };
    const result = { role: 'tool', tool_call_id: 'c', content: '12 C' };
    await call({}, { tools, conversation: [{ role: 'user', content: 'Hi' }, asked, result] as never });
    assert.deepEqual(sent().input.slice(1, 3), [
      { role: 'assistant', content: 'Let me see' },
      { type: 'function_call', call_id: 'c', name: 'get_weather', arguments: '{}' },
    ]);
  });

  it('finds the start of a prompt again where OpenAI needs a hint for it', async () => {
    server.will(server.give('Hi'), server.give('Hi'));
    const block = { model: 'openai/gpt-5.6', processor_config: { system: 'Be brief.' } };
    await call(block);
    assert.deepEqual(sent().input[0].content, [
      { type: 'input_text', text: 'Be brief.', prompt_cache_breakpoint: { mode: 'explicit' } },
    ]);
    const { prompt_cache_key } = sent();
    await call(block);
    assert.equal(sent().prompt_cache_key, prompt_cache_key);
  });

  for (const [what, more, code, message] of [
    [
      'was cut off at its token limit',
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'MODEL_OUTPUT_INCOMPLETE',
      /cut off/,
    ],
    [
      'has a message that is not whole',
      { output: [{ type: 'message', status: 'incomplete', content: [{ type: 'output_text', text: 'Ha' }] }] },
      'MODEL_OUTPUT_INCOMPLETE',
      /incomplete/,
    ],
    [
      'was stopped by the content filter',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'MODEL_REFUSED',
      /refused/,
    ],
  ] as const)
    it(`is no answer when it ${what}`, async () => {
      server.will(server.give('Half', more));
      await assert.rejects(call(), fails(code, message));
    });

  it('says in its own words why it refuses', async () => {
    const content = [{ type: 'refusal', refusal: 'I cannot help with that.' }];
    server.will(server.give([{ type: 'message', id: 'm', status: 'completed', role: 'assistant', content }]));
    await assert.rejects(call(), fails('MODEL_REFUSED', /I cannot help with that/));
  });

  it('is asked again when a response failed before anything was written', async () => {
    const error = { code: 'server_error', message: 'The model failed to generate a response.' };
    server.will(server.give([], { status: 'failed', error, usage: null }));
    await assert.rejects(call(), { name: 'ModelUnavailable', message: /failed to generate/ });
  });

  it('reports cached and reasoning tokens', async () => {
    const usage = {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 900 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 40 },
      total_tokens: 1_050,
    };
    server.will(server.give('Hi', { usage }));
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = await call();
    assert.deepEqual([promptTokens, cachedTokens, completionTokens, reasoningTokens], [1_000, 900, 50, 40]);
  });

  it('is charged as the tier of its answer says', async () => {
    server.will(server.give('Hi', { service_tier: 'flex' }));
    assert.equal((await call()).costMicrocredits, (10 * 125 + 5 * 1_000) / 2);
  });

  it('leaves out of its answer what it says on its way', async () => {
    const say = (phase: string, text: string) => ({
      type: 'message',
      id: `msg_${phase}`,
      role: 'assistant',
      status: 'completed',
      phase,
      content: [{ type: 'output_text', text }],
    });
    server.will(server.give([say('commentary', 'Let me see.'), say('final_answer', 'Oslo')]));
    assert.equal((await call()).output, 'Oslo');
    server.will(server.give([say('commentary', 'Let me see.')]));
    assert.equal((await call()).output, 'Let me see.');
  });

  it('gets examples between the system message and the prompt', async () => {
    server.will(server.give('Hi'));
    const messages = [
      { role: 'user' as const, content: 'Who was Alan?' },
      { role: 'assistant' as const, content: 'Turing' },
    ];
    await call({ processor_config: { system: 'Be brief.', messages } });
    assert.deepEqual(sent().input.slice(1), [...messages, { role: 'user', content: 'Who was Ada?' }]);
  });
});
