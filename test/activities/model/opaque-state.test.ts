// The state that a provider puts on a message with tool calls, and wants back with their results.
import assert from 'node:assert/strict';
import type { ToolCallMessage, ToolDefinition } from '../../../flow/tool-calls.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'f' } }];
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const result: ToolCallMessage = { role: 'tool', tool_call_id: 'c', content: '1' };

/** Stands for a number that JSON.stringify does not write. */
const TOO_LARGE = '"too large"';
/** Stands for a number whose digits JavaScript does not keep. */
const LONG = '"long"';
/** Lists in lists, as deep as that: JSON.stringify does not get that far. */
const nested = (levels: number) => ({ levels });
const serialize = (message: object) =>
  JSON.stringify(message)
    .replace(/\{"levels":(\d+)\}/, (_, levels) => '['.repeat(levels) + ']'.repeat(levels))
    .replace(TOO_LARGE, '1e400')
    .replace(LONG, '12345678901234567890');

describe('askModel, of the state of a message with tool calls,', () => {
  const harness = useAskModel();
  const answerWith = (message: object) =>
    harness.server.will(
      respond(200, `{"choices":[{"message":${serialize(message)}}],"usage":{"prompt_tokens":10}}`),
    );
  // biome-ignore lint/suspicious/noExplicitAny: conversations of every shape
  const pauseOf = async (message: object): Promise<any> => {
    answerWith(message);
    const reply = await harness.call({}, undefined, { tools });
    assert.equal(reply.paused, true);
    return reply.output;
  };
  async function sentAfter(conversation: ToolCallMessage[]) {
    harness.server.will(answer('ok'));
    await harness.call({}, undefined, { tools, conversation: [...conversation, result] });
    return harness.server.calls.at(-1)?.body.messages;
  }

  for (const [name, message] of [
    ['reasoning_content', { content: '', reasoning_content: 'They want the weather.', tool_calls: [call] }],
    ['an empty reasoning_content', { content: null, reasoning_content: '', tool_calls: [call] }],
    ['reasoning', { content: null, reasoning: 'Hm', tool_calls: [call] }],
    [
      'reasoning_details with nulls inside',
      { content: null, reasoning_details: [{ id: 'rs_1', data: null, index: 0 }], tool_calls: [call] },
    ],
    [
      'extra_content of a call',
      { content: null, tool_calls: [{ ...call, extra_content: { google: { a: 's' } } }] },
    ],
    ['the index of a call', { content: null, tool_calls: [{ ...call, index: 0 }] }],
    [
      'a signature of a function',
      { content: null, tool_calls: [{ ...call, function: { ...call.function, thought_signature: 'c2ln' } }] },
    ],
    [
      'a state of its own name',
      { content: 'Hm', encrypted: { v: [1, 'x'], constructed: true }, tool_calls: [call] },
    ],
  ] as const)
    it(`keeps ${name}, and sends it back unchanged`, async () => {
      const conversation = await pauseOf({ role: 'assistant', ...message });
      assert.deepEqual(conversation[1], { role: 'assistant', ...message });
      assert.deepEqual(await sentAfter(conversation), [...conversation, result]);
    });

  it('hands out and sends no nulls, refusal, audio, function_call and annotations', async () => {
    const written = { ...call, index: null, function: { ...call.function, signature: null } };
    const dropped = {
      refusal: 'no',
      audio: { id: 'a' },
      function_call: {},
      annotations: [],
      reasoning: null,
    };
    const conversation = await pauseOf({ content: null, ...dropped, refusal: null, tool_calls: [written] });
    assert.deepEqual(conversation[1], { role: 'assistant', content: null, tool_calls: [call] });
  });

  it('hands out content in parts as text, and sends the parts back', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
      { type: 'text', text: 'Let me see' },
    ];
    const provider_state = { api: 'openai-chat', content };
    const message = { role: 'assistant', content: 'Let me see', provider_state, tool_calls: [call] } as const;
    const [prompt] = await pauseOf({ content: null, tool_calls: [call] });
    assert.partialDeepStrictEqual(await sentAfter([prompt, message as never]), [
      prompt,
      { role: 'assistant', content, tool_calls: [call] },
    ]);
  });

  it('sends no field that its provider refuses, of the message or its calls', async () => {
    const begin = async () => ({ ...harness.server.provider, refusedFields: ['reasoning_content', 'index'] });
    const [prompt, message] = await pauseOf({ reasoning_content: '', tool_calls: [{ ...call, index: 0 }] });
    assert.deepEqual([message.reasoning_content, message.tool_calls[0].index], ['', 0]);
    harness.server.will(answer('ok'));
    await harness.call({}, undefined, { tools, begin, conversation: [prompt, message, result] });
    const { messages } = harness.server.calls.at(-1)?.body ?? {};
    assert.deepEqual((messages as object[])[1], { role: 'assistant', content: null, tool_calls: [call] });
  });

  it('sends no state of another API', async () => {
    const provider_state = { api: 'anthropic', content: [{ type: 'thinking' }] };
    const [prompt] = await pauseOf({ content: null, tool_calls: [call] });
    const sent = await sentAfter([
      prompt,
      { role: 'assistant', content: 'x', reasoning: 'Hm', provider_state, tool_calls: [call as never] },
    ]);
    assert.deepEqual((sent as object[])[1], { role: 'assistant', content: 'x', tool_calls: [call] });
  });

  const own = (key: string): unknown => JSON.parse(`{"${key}": {"prototype": {}}}`);
  for (const [name, message, why] of [
    ['is nested too deep', { reasoning: nested(62), tool_calls: [call] }, /reasoning has more levels/],
    [
      'is nested far too deep',
      { tool_calls: [{ ...call, extra: nested(50_000) }] },
      /tool_calls has more levels/,
    ],
    [
      'has a number that would be rounded',
      { reasoning: [{ created_ns: 'long' }], tool_calls: [call] },
      /reasoning\.0\.created_ns has a whole number/,
    ],
    ['has a prototype', { tool_calls: [{ ...call, extra: own('__proto__') }] }, /key __proto__/],
    [
      'has a key deep inside',
      { reasoning: [{ a: own('constructor') }], tool_calls: [call] },
      /key constructor/,
    ],
    [
      'has a number that would become null',
      { reasoning: ['too large'], tool_calls: [call] },
      /too large for JSON/,
    ],
  ] as const)
    it(`is MODEL_OUTPUT_INVALID, asked for and paid once, where it ${name}: no resume could send it`, async () => {
      answerWith(message);
      await assert.rejects(harness.call({}, undefined, { tools }), fails('MODEL_OUTPUT_INVALID', why));
      assert.deepEqual([harness.server.calls.length, harness.usage.promptTokens], [1, 10]);
    });

  it('is kept where only what is not sent has a long number, and the arguments of calls keep theirs', async () => {
    const called = { ...call, function: { name: 'f', arguments: { id: 'long' } } };
    const conversation = await pauseOf({ reasoning: 'Hm', tool_calls: [called] });
    assert.equal(conversation[1].tool_calls[0].function.arguments, '{"id":12345678901234567890}');
    await pauseOf({ annotations: [{ at: 'long' }], reasoning: 'Hm', tool_calls: [call] });
  });

  it('is kept up to the depth that a resume may send', async () => {
    const conversation = await pauseOf({ reasoning: nested(61), tool_calls: [call] });
    assert.equal(JSON.stringify(conversation[1].reasoning).length, 2 * 61);
  });
});
