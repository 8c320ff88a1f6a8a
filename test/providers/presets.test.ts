import assert from 'node:assert/strict';
import type { Block } from '../../flow/definition.ts';
import { PRESETS } from '../../platform/config/provider-presets.ts';
import { llm } from '../blocks.ts';
import { type ProviderServers, REASONING, startProviderServers } from '../fakes/provider-servers.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { FEATURES, type PresetName } from './features.ts';
import { cat, outputSchema, tools } from './requests.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
type Body = any;

const PRESETS_OF_CHAT = Object.entries(FEATURES).filter(([, { api }]) => api === 'openai-chat');

describe('a run with the preset', () => {
  let servers: ProviderServers;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    servers = await startProviderServers();
    const env = PRESETS_OF_CHAT.map(([prefix]) => servers.envOf(prefix));
    const dialled = JSON.stringify({ 'img.example': '127.0.0.1:9' });
    weir = await startWeir({ env: { ...Object.assign({}, ...env), WEIR_TEST_DIAL_MAP: dialled } });
    tenant = await weir.createTenant({ credits: 10_000 });
  });
  beforeEach(() => void servers.calls.splice(0));
  after(async () => {
    await weir.stop();
    await servers.close();
  });

  it('is there for all presets but Anthropic, which has its own API, and the demo models', () => {
    const prefixes = PRESETS_OF_CHAT.map(([prefix]) => prefix);
    assert.deepEqual([...prefixes, 'anthropic', 'demo'].sort(), Object.keys(PRESETS).sort());
  });

  for (const [prefix, features] of PRESETS_OF_CHAT) {
    const model = `${prefix}/${features.model}`;

    describe(prefix, () => {
      /** Runs one llm block; returns the answers, the last one last, and how to read more of the run. */
      async function run(body: object = {}, block: Partial<Block> = {}) {
        const processor_config = { max_tokens: 50, seed: 1, max_retries: 0, ...block.processor_config };
        const step = llm('ask', '{{message}}', model, { ...block, processor_config });
        const flow = await weir.createFlow(tenant, [step]);
        const { key } = tenant;
        const send = async (more: object): Promise<Body> =>
          (await weir.call('POST', `${flow}/execute`, { key, body: more })).body;
        const answer = await send({ message: 'Which city?', ...body });
        const read = async (suffix: string): Promise<Body> =>
          (await weir.call('GET', `${flow}/jobs/${answer.executionId}${suffix}`, { key })).body;
        return { answer, send, read };
      }

      it('answers with text', async () => {
        const { answer } = await run();
        assert.deepEqual([answer.status, answer.result], ['completed', 'Oslo'], JSON.stringify(answer));
      });

      it(`answers with JSON, its schema ${features.schema === 'yes' ? 'in response_format' : 'in the prompt'}`, async () => {
        const { answer } = await run({}, { outputSchema });
        assert.deepEqual(
          [answer.status, answer.result],
          ['completed', { city: 'Oslo' }],
          JSON.stringify(answer),
        );
        const format = servers.calls[0]?.body.response_format as Body;
        assert.equal(format?.type === 'json_schema', features.schema === 'yes');
      });

      it('calls a tool, pauses, and goes on with its state', async () => {
        const { answer, send } = await run({ tools }, { processor_config: { tools_enabled: true } });
        assert.equal(answer.status, 'tool_calls_required', JSON.stringify(answer));
        const { toolCalls, toolCallMessages, ...rest } = answer;
        const results = toolCalls.map(({ id }: Body) => ({
          role: 'tool',
          tool_call_id: id,
          content: '12 C',
        }));
        const resumed = await send({ ...rest, tools, toolCallMessages: [...toolCallMessages, ...results] });
        assert.deepEqual(
          [resumed.status, resumed.result],
          ['completed', '12 C in Oslo'],
          JSON.stringify(resumed),
        );
      });

      it(features.images === 'yes' ? 'sees an image' : 'refuses an image before the run', async () => {
        const { answer } = await run({ attachments: [cat] });
        if (features.images === 'yes') assert.equal(answer.result, 'A cat', JSON.stringify(answer));
        else {
          assert.equal(answer.detail?.code, 'MODEL_MIME_INCOMPATIBLE', JSON.stringify(answer));
          assert.equal(servers.calls.length, 0);
        }
      });

      it(`has ${features.reasoning} reasoning`, async () => {
        const { answer, read } = await run();
        const trace = JSON.stringify(await read('/blocks/ask'));
        if (features.reasoning === 'readable') assert.ok(trace.includes(REASONING), trace);
        else assert.match(trace, /"reasoningTokens":[1-9]/);
        assert.equal(answer.result, 'Oslo');
      });

      if (features.caching !== '—')
        it('counts cached input apart', async () => {
          const { answer, read } = await run();
          assert.equal(answer.status, 'completed');
          assert.match(JSON.stringify(await read('/blocks/ask')), /"cachedTokens":900/);
        });

      if (features.streaming === 'read')
        it('may stream although nobody asked for that', async () => {
          const { answer } = await run({ message: 'Stream it' });
          assert.equal(answer.result, 'Oslo', JSON.stringify(answer));
        });
    });
  }

  it('openrouter charges what the provider reports', async () => {
    const model = `openrouter/${FEATURES['openrouter' satisfies PresetName].model}`;
    const flow = await weir.createFlow(tenant, [llm('ask', '{{message}}', model)]);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    // 0.0123 USD.
    assert.equal(body.cost, 1.23);
  });

  it('vllm fails with the words of its bare errors', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', '{{message}}', 'vllm/missing')]);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    assert.match(body.errorMessage, /The model `missing` does not exist/);
  });
});
