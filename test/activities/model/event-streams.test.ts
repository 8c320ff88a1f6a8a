// Anthropic's Messages API and OpenAI's Responses, of servers that stream although they were not asked to.
import assert from 'node:assert/strict';
import type { ModelRequest } from '../../../activities/model/ask-model.ts';
import type { ApiKind } from '../../../platform/config/config.ts';
import { type Behaviour, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

type Event = { type: string; [field: string]: unknown };

const stream = (...events: Event[]): Behaviour =>
  respond(200, events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
    'content-type': 'text/event-stream',
  });

const START: Event = {
  type: 'message_start',
  message: {
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 },
  },
};
const begin = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const add = (index: number, delta: object): Event => ({ type: 'content_block_delta', index, delta });
const end = (stop_reason: string): Event[] => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5, input_tokens: null } },
  { type: 'message_stop' },
];
const SAID = [begin(0, { type: 'text', text: '' }), add(0, { type: 'text_delta', text: 'Os' })];

const ITEM = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Oslo' }],
};
const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const created: Event = {
  type: 'response.created',
  response: { object: 'response', status: 'in_progress', output: [] },
};
const completed = (output: unknown[]): Event => ({
  type: 'response.completed',
  response: { object: 'response', status: 'completed', output, usage },
});
const done: Event = { type: 'response.output_item.done', output_index: 0, item: ITEM };

describe('an event stream that was not asked for', () => {
  const harness = useAskModel();
  const tools = [{ type: 'function', function: { name: 'find' } } as const];
  const call = (api: ApiKind, behaviour: Behaviour, more: Partial<ModelRequest> = {}) => {
    harness.server.will(behaviour);
    const provider = { ...harness.server.provider, name: 'anthropic', api };
    const model = 'anthropic/claude-sonnet-4-5';
    return harness.call({ model }, undefined, { begin: async () => provider, ...more });
  };

  it('is read as a message of Anthropic, with its usage', async () => {
    const rest = add(0, { type: 'text_delta', text: 'lo' });
    const answer = await call(
      'anthropic',
      stream(START, { type: 'ping' }, ...SAID, rest, ...end('end_turn')),
    );
    assert.partialDeepStrictEqual(answer, {
      output: 'Oslo',
      promptTokens: 100,
      cachedTokens: 90,
      completionTokens: 5,
    });
  });

  it('keeps the thinking of Anthropic, and each digit of its tool calls', async () => {
    const { output } = await call(
      'anthropic',
      stream(
        START,
        begin(0, { type: 'thinking', thinking: '', signature: '' }),
        add(0, { type: 'thinking_delta', thinking: 'Find it.' }),
        add(0, { type: 'signature_delta', signature: 'EqQB' }),
        begin(1, { type: 'tool_use', id: 'toolu_1', name: 'find', input: {} }),
        add(1, { type: 'input_json_delta', partial_json: '{"id": 12345678901' }),
        add(1, { type: 'input_json_delta', partial_json: '234567890}' }),
        begin(2, { type: 'tool_use', id: 'toolu_2', name: 'find', input: {} }),
        ...end('tool_use'),
      ),
      { tools },
    );
    const turn = (output as Record<string, unknown>[]).at(-1);
    assert.partialDeepStrictEqual(turn, {
      tool_calls: [
        { id: 'toolu_1', function: { name: 'find', arguments: '{"id": 12345678901234567890}' } },
        { id: 'toolu_2', function: { name: 'find', arguments: '{}' } },
      ],
      provider_state: { content: [{ type: 'thinking', thinking: 'Find it.', signature: 'EqQB' }] },
    });
  });

  it('is read as a response of OpenAI, whichever event has its output', async () => {
    const said = { output: 'Oslo', promptTokens: 10, completionTokens: 5 };
    const whole = await call('openai-responses', stream(created, completed([ITEM])));
    assert.partialDeepStrictEqual(whole, said);
    const { output } = await call('openai-responses', stream(created, done, completed([])));
    assert.equal(output, 'Oslo');
  });

  for (const [api, half] of [
    ['anthropic', [START, ...SAID]],
    ['openai-responses', [created, done]],
  ] as const) {
    it(`is MODEL_OUTPUT_INCOMPLETE where it ends too early (${api})`, () =>
      assert.rejects(call(api, stream(...half)), fails('MODEL_OUTPUT_INCOMPLETE', /too early/)));

    const words = { type: 'overloaded_error', code: 'server_error', message: 'Overloaded' };
    const error = {
      type: 'error',
      ...(api === 'anthropic' ? { error: words } : { ...words, type: 'error' }),
    };

    it(`is MODEL_OUTPUT_INCOMPLETE where it has an error after half an answer (${api})`, () =>
      assert.rejects(call(api, stream(...half, error)), fails('MODEL_OUTPUT_INCOMPLETE', /Overloaded/)));

    it(`is asked for again where it has nothing but an error (${api})`, () =>
      assert.rejects(call(api, stream(error)), { name: 'ModelUnavailable', message: /Overloaded/ }));
  }
});
