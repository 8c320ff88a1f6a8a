import assert from 'node:assert/strict';
import type { ModelRequest } from '../../../activities/model/ask-model.ts';
import type { Block } from '../../../flow/definition.ts';
import { answer } from '../../fakes/model-server.ts';
import { useAskModel } from './ask-model-harness.ts';

const SYSTEM = { system: 'Be brief.' };

describe('hints in Chat Completions', () => {
  const harness = useAskModel();
  async function sentTo(
    name: string,
    block: Partial<Block>,
    { preset, ...more }: Partial<ModelRequest> & { preset?: string } = {},
    // biome-ignore lint/suspicious/noExplicitAny: requests of many shapes
  ): Promise<any> {
    harness.server.will(answer('Hi'));
    const begin = async () => ({ ...harness.server.provider, name, ...(preset && { preset }) });
    await harness.call(block, undefined, { begin, ...more });
    return harness.server.calls.at(-1)?.body;
  }

  it("mark for OpenRouter's Anthropic models what stays the same, and where the conversation goes on", async () => {
    const model = 'openrouter/anthropic/claude-sonnet-4.5';
    const tools = [{ type: 'function' as const, function: { name: 'f' } }];
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const config = { ...SYSTEM, prompt_cache: '1h' as const };
    const { messages } = await sentTo('openrouter', { model, processor_config: config }, { tools });
    assert.deepEqual(messages[0].content, [{ type: 'text', text: 'Be brief.', cache_control }]);
    assert.deepEqual(messages[1].content[0].cache_control, cache_control);
  });

  it('mark for OpenAI the end of what stays the same, from GPT-5.6 on', async () => {
    const body = await sentTo('openai', { model: 'openai/gpt-5.6', processor_config: SYSTEM });
    const prompt_cache_breakpoint = { mode: 'explicit' };
    assert.deepEqual(body.messages[0].content, [
      { type: 'text', text: 'Be brief.', prompt_cache_breakpoint },
    ]);
    assert.equal(typeof body.prompt_cache_key, 'string');
  });

  it('give Mistral a key, the same for the same start of a prompt', async () => {
    const keyOf = async (system: string, prompt: string) => {
      const processor_config = { system };
      const body = await sentTo('mistral', {
        model: 'mistral/mistral-small-latest',
        prompt,
        processor_config,
      });
      assert.deepEqual(body.messages[0].content, system);
      return body.prompt_cache_key;
    };
    const key = await keyOf('Be brief.', 'one');
    assert.equal(typeof key, 'string');
    assert.equal(await keyOf('Be brief.', 'two'), key);
    assert.notEqual(await keyOf('Be exact.', 'one'), key);
  });

  it('are those of the preset that a further provider is like', async () => {
    const block = { model: 'openai/gpt-5.6', processor_config: SYSTEM };
    assert.ok((await sentTo('openai-eu', block, { preset: 'openai' })).prompt_cache_key);
    assert.equal((await sentTo('openai-eu', block)).prompt_cache_key, undefined);
  });

  for (const [name, model, config] of [
    ['openai', 'openai/gpt-5', {}],
    ['openai', 'openai/gpt-5.6', { prompt_cache: 'off' as const }],
    ['openrouter', 'openrouter/openai/gpt-5', {}],
    ['openrouter', 'openrouter/anthropic/claude-sonnet-4.5', { prompt_cache: 'off' as const }],
    ['mistral', 'mistral/mistral-small-latest', { prompt_cache: 'off' as const }],
    ['google', 'google/gemini-2.5-flash', {}],
  ] as const)
    it(`are not sent to ${model} with ${JSON.stringify(config)}`, async () => {
      const body = await sentTo(name, { model, processor_config: { ...SYSTEM, ...config } });
      assert.doesNotMatch(JSON.stringify(body), /cache/);
    });

  for (const [name, id, taken] of [
    ['mistral', 'call_1', /^[a-zA-Z0-9]{9}$/],
    ['mistral', 'a1B2c3D4e', /^a1B2c3D4e$/],
    ['openai', `call_${'x'.repeat(60)}`, /^call_x{60}$/],
  ] as const)
    it(`give ${name} a call and its result under an id that it takes: ${id.slice(0, 12)}`, async () => {
      const call = { id, type: 'function', function: { name: 'f', arguments: '{}' } } as const;
      const conversation = [
        { role: 'user' as const, content: 'Hi' },
        { role: 'assistant' as const, content: null, tool_calls: [call] },
        { role: 'tool' as const, tool_call_id: id, content: '1' },
      ];
      const { messages } = await sentTo(name, { model: `${name}/x` }, { conversation });
      assert.match(messages[1].tool_calls[0].id, taken);
      assert.equal(messages[2].tool_call_id, messages[1].tool_calls[0].id);
    });

  it('instruct Claude behind its OpenAI layer, which ignores a response format', async () => {
    harness.server.will(answer('{"n":1}'));
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } } };
    const begin = async () => ({ ...harness.server.provider, name: 'anthropic' });
    await harness.call({ model: 'anthropic/claude-sonnet-4-5', outputSchema }, undefined, { begin });
    const body = harness.server.calls.at(-1)?.body;
    assert.equal(body?.response_format, undefined);
    assert.match(JSON.stringify(body?.messages), /JSON Schema/);
  });
});
