// Providers with an API of their own: Anthropic's Messages API, and OpenAI's Responses API where a block asks for it.
import assert from 'node:assert/strict';
import type { Block } from '../../flow/definition.ts';
import { llm } from '../blocks.ts';
import { type FakeAnthropic, startFakeAnthropic } from '../fakes/anthropic-server.ts';
import { type Behaviour, respond } from '../fakes/model-server.ts';
import { type FakeResponses, startFakeResponses } from '../fakes/responses-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { FEATURES } from './features.ts';
import { cat, outputSchema, tools } from './requests.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
type Body = any;

const REASONING = 'It is the capital.';

describe('a run with the own API of', () => {
  let anthropic: FakeAnthropic;
  let responses: FakeResponses;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    [anthropic, responses] = await Promise.all([startFakeAnthropic(), startFakeResponses()]);
    weir = await startWeir({
      env: {
        ANTHROPIC_BASE_URL: anthropic.provider.baseUrl,
        ANTHROPIC_API_KEY: anthropic.provider.apiKey,
        OPENAI_BASE_URL: responses.provider.baseUrl,
        OPENAI_API_KEY: responses.provider.apiKey,
        WEIR_TEST_DIAL_MAP: JSON.stringify({ 'img.example': '127.0.0.1:9' }),
      },
    });
    tenant = await weir.createTenant({ credits: 10_000 });
  });
  after(async () => {
    await weir.stop();
    await Promise.all([anthropic.close(), responses.close()]);
  });

  /** The answers of an API, by feature. */
  type Api = {
    calls(): Body[];
    will(...behaviours: Behaviour[]): void;
    text(said: string, reasoning?: string): Behaviour;
    call(): Behaviour;
    cached(): Behaviour;
    stream(): Behaviour;
    formatOf(body: Body): Body;
  };
  const thinking = { type: 'thinking', thinking: REASONING, signature: 'EqQBCgIYAhIM' };
  const reasoned = (id: string) => ({
    type: 'reasoning',
    id,
    summary: [{ type: 'summary_text', text: REASONING }],
    encrypted_content: 'gAAAAABo',
  });
  const message = (text: string) => ({
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  });
  const streamOf = (...events: { type: string; [field: string]: unknown }[]) =>
    respond(200, events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
      'content-type': 'text/event-stream',
    });
  const apis: { [prefix: string]: Api } = {
    anthropic: {
      calls: () => anthropic.calls.map(({ body }) => body),
      will: (...behaviours) => anthropic.will(...behaviours),
      text: (said, reasoning) =>
        anthropic.say([...(reasoning ? [thinking] : []), { type: 'text', text: said }]),
      call: () =>
        anthropic.say(
          [thinking, { type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: { city: 'Oslo' } }],
          { stop: 'tool_use' },
        ),
      cached: () => anthropic.say('Oslo', { usage: { input_tokens: 100, cache_read_input_tokens: 900 } }),
      stream: () =>
        streamOf(
          { type: 'message_start', message: { type: 'message', role: 'assistant', usage: {} } },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Oslo' } },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
          { type: 'message_stop' },
        ),
      formatOf: (body) => body.output_config?.format,
    },
    'openai (Responses)': {
      calls: () => responses.calls.map(({ body }) => body),
      will: (...behaviours) => responses.will(...behaviours),
      text: (said, reasoning) => responses.give([...(reasoning ? [reasoned('rs_1')] : []), message(said)]),
      call: () =>
        responses.give([
          reasoned('rs_2'),
          {
            type: 'function_call',
            id: 'fc_1',
            call_id: 'call_1',
            name: 'get_weather',
            arguments: '{"city":"Oslo"}',
            status: 'completed',
          },
        ]),
      cached: () =>
        responses.give('Oslo', {
          usage: {
            input_tokens: 1_000,
            input_tokens_details: { cached_tokens: 900 },
            output_tokens: 5,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 1_005,
          },
        }),
      stream: () =>
        streamOf({
          type: 'response.completed',
          response: { object: 'response', status: 'completed', output: [message('Oslo')] },
        }),
      formatOf: (body) => body.text?.format,
    },
  };

  it('each provider that has one is tried', () => {
    const own = Object.entries(FEATURES).filter(([, { api }]) => api !== 'openai-chat');
    assert.deepEqual(own.map(([name]) => name).sort(), Object.keys(apis).sort());
  });

  for (const [name, api] of Object.entries(apis)) {
    const isResponses = name.startsWith('openai');
    const model = isResponses ? 'openai/gpt-5' : 'anthropic/claude-opus-4-8';
    const settings = isResponses ? { api: 'openai-responses' as const } : {};

    describe(name, () => {
      async function run(body: object = {}, block: Partial<Block> = {}) {
        const processor_config = { ...settings, max_tokens: 50, max_retries: 0, ...block.processor_config };
        const step = llm('ask', '{{message}}', model, { ...block, processor_config });
        const flow = await weir.createFlow(tenant, [step]);
        const { key } = tenant;
        const send = async (more: object): Promise<Body> =>
          (await weir.call('POST', `${flow}/execute`, { key, body: more })).body;
        const answer = await send({ message: 'Which city?', ...body });
        const readTrace = async () =>
          JSON.stringify(
            (await weir.call('GET', `${flow}/jobs/${answer.executionId}/blocks/ask`, { key })).body,
          );
        return { answer, send, readTrace };
      }

      it('answers with text', async () => {
        api.will(api.text('Oslo'));
        const { answer } = await run();
        assert.deepEqual([answer.status, answer.result], ['completed', 'Oslo'], JSON.stringify(answer));
      });

      it('answers with JSON, its schema in a field of its own', async () => {
        api.will(api.text('{"city":"Oslo"}'));
        const { answer } = await run({}, { outputSchema });
        assert.deepEqual(answer.result, { city: 'Oslo' }, JSON.stringify(answer));
        assert.equal(api.formatOf(api.calls().at(-1)).type, 'json_schema');
      });

      it('calls a tool, pauses, and goes on with its state', async () => {
        api.will(api.call());
        const { answer, send } = await run(
          { tools },
          { processor_config: { tools_enabled: true, ...settings } },
        );
        assert.equal(answer.status, 'tool_calls_required', JSON.stringify(answer));
        const { toolCalls, toolCallMessages, ...rest } = answer;
        const results = toolCalls.map(({ id }: Body) => ({
          role: 'tool',
          tool_call_id: id,
          content: '12 C',
        }));
        api.will(api.text('sunny'));
        const resumed = await send({ ...rest, tools, toolCallMessages: [...toolCallMessages, ...results] });
        assert.deepEqual([resumed.status, resumed.result], ['completed', 'sunny'], JSON.stringify(resumed));
      });

      it('sees an image', async () => {
        api.will(api.text('A cat'));
        const { answer } = await run({ attachments: [cat] });
        assert.equal(answer.result, 'A cat', JSON.stringify(answer));
        assert.match(JSON.stringify(api.calls().at(-1)), /https:\/\/img\.example\/cat\.png/);
      });

      it('has readable reasoning', async () => {
        api.will(api.text('Oslo', REASONING));
        const { answer, readTrace } = await run();
        assert.equal(answer.result, 'Oslo');
        assert.ok((await readTrace()).includes(REASONING));
      });

      it('may stream although nobody asked for that', async () => {
        api.will(api.stream());
        const { answer } = await run();
        assert.equal(answer.result, 'Oslo', JSON.stringify(answer));
      });

      it('counts cached input apart', async () => {
        api.will(api.cached());
        const { readTrace } = await run();
        assert.match(await readTrace(), /"promptTokens":1000,.*"cachedTokens":900/);
      });
    });
  }
});
