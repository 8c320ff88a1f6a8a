import assert from 'node:assert/strict';
import type { Block } from '../../../flow/definition.ts';
import { findSettingProblems, listUnsureSettings } from '../../../platform/models/find-setting-problems.ts';
import { createRegistry } from '../../../platform/models/registry.ts';

const registry = createRegistry();
type Config = NonNullable<Block['processor_config']>;

function blockOf(model: string, processor_config: Config): Block {
  return { step_id: 'ask', name: 'Ask', processor_type: 'llm', model, processor_config };
}

describe('settings that a model does not take', () => {
  for (const [model, config, refused] of [
    ['openai/gpt-5-mini', { temperature: 0, top_p: 0.5, stop: 'x' }, ['temperature', 'top_p', 'stop']],
    ['openai/gpt-5-mini', { seed: 7, reasoning_effort: 'minimal' }, []],
    ['openai/gpt-5-mini', { reasoning_effort: 'none' }, ['reasoning_effort']],
    ['openai/gpt-5.2', { temperature: 0 }, []],
    ['openai/gpt-5.2', { temperature: 0, reasoning_effort: 'none' }, []],
    ['openai/gpt-5.2', { temperature: 0, reasoning_effort: 'high' }, ['temperature']],
    ['openai/gpt-4o', { temperature: 0, reasoning_effort: 'low' }, ['reasoning_effort']],
    ['anthropic/claude-opus-4-8', { temperature: 0, top_p: 1 }, ['temperature', 'top_p']],
    ['anthropic/claude-opus-4-5', { temperature: 0 }, []],
    ['anthropic/claude-opus-4-5', { top_p: 0.5 }, []],
    ['anthropic/claude-opus-4-5', { temperature: 0, top_p: 0.5 }, ['top_p']],
    ['openai/gpt-4o', { temperature: 0, top_p: 0.5 }, []],
    ['openai/gpt-5-mini-2025-08-07', { temperature: 0 }, ['temperature']],
    ['anthropic/claude-of-tomorrow', { temperature: 0, seed: 7 }, ['seed']],
    ['openai/gpt-of-tomorrow', { temperature: 0, reasoning_effort: 'none' }, []],
    ['anthropic/claude-opus-4-5', { api: 'openai-responses' }, ['api']],
    ['anthropic/claude-opus-4-5', { api: 'openai-chat', max_tokens: 64_000, temperature: 1 }, ['api']],
    ['anthropic/claude-opus-4-5', { temperature: 1.5, max_tokens: 64_001 }, ['temperature', 'max_tokens']],
    ['anthropic/claude-opus-4-5', { top_p: 0.5, reasoning_effort: 'low' }, ['top_p']],
    ['anthropic/claude-opus-4-5', { max_tokens: 1_024, reasoning_effort: 'low' }, ['reasoning_effort']],
    ['anthropic/claude-opus-4-5', { max_tokens: 1_024, reasoning_effort: 'none' }, []],
    ['anthropic/claude-opus-4-5', { max_tokens: 1_025, reasoning_effort: 'low' }, []],
    ['anthropic/claude-opus-4-5', { stop: ['END', '\n\n'] }, ['stop']],
    ['anthropic/claude-opus-4-5', { stop: 'END\n' }, []],
    ['openai/gpt-4o', { stop: '\n' }, []],
    ['anthropic/claude-of-tomorrow', { max_tokens: 200_000 }, []],
    ['azure/gpt-5-mini', { temperature: 0 }, ['temperature']],
    ['openai/gpt-6-luna', { temperature: 0 }, ['temperature']],
    ['openai/gpt-6-luna', { temperature: 0, reasoning_effort: 'none' }, []],
    ['google/gemini-of-tomorrow', { api: 'openai-responses' }, ['api']],
    ['openai/gpt-4o', { api: 'openai-responses', seed: 7, stop: 'x', temperature: 0 }, ['stop', 'seed']],
    ['google/gemini-2.5-pro', { reasoning_effort: 'none' }, ['reasoning_effort']],
    ['google/gemini-2.5-flash', { reasoning_effort: 'none' }, []],
    ['groq/llama-3.3-70b-versatile', { reasoning_effort: 'low' }, ['reasoning_effort']],
    ['groq/openai/gpt-oss-120b', { reasoning_effort: 'low' }, []],
    ['groq/openai/gpt-oss-120b', { reasoning_effort: 'none' }, ['reasoning_effort']],
    ['mistral/mistral-small-latest', { reasoning_effort: 'medium' }, ['reasoning_effort']],
    ['mistral/codestral-latest', { reasoning_effort: 'high' }, ['reasoning_effort']],
    ['deepseek/deepseek-v4-pro', { temperature: 0, top_p: 0.5 }, ['temperature']],
    ['deepseek/deepseek-chat', { temperature: 0 }, []],
    ['acme/one', { temperature: 0 }, []],
  ] as [string, Config, string[]][])
    it(`are ${refused.join(', ') || 'none'} of ${JSON.stringify(config)} for ${model}`, () => {
      const problems = findSettingProblems(registry, blockOf(model, config));
      assert.deepEqual(
        problems.map(({ setting }) => setting),
        refused,
      );
      for (const { message } of problems) assert.match(message, new RegExp(`^${model} does not take .*:`));
    });

  it('are unknown for a model that is in no list', () => {
    const config = { temperature: 0, max_tokens: 7 };
    const unknownFor = (model: string) => listUnsureSettings(registry, [], blockOf(model, config)).unknown;
    assert.deepEqual(unknownFor('openai/gpt-of-tomorrow'), ['temperature']);
    assert.deepEqual(unknownFor('openai/gpt-5'), []);
  });

  it("are not sent where the provider's configuration leaves them out, whether the model is in a list or not", () => {
    const config = { temperature: 0, seed: 7 };
    const of = (model: string) => listUnsureSettings(registry, ['seed'], blockOf(model, config));
    assert.deepEqual(of('openai/gpt-of-tomorrow'), { unsent: ['seed'], unknown: ['temperature'] });
    assert.deepEqual(of('openai/gpt-5.2'), { unsent: ['seed'], unknown: [] });
  });

  it('are none of a block without a model', () => {
    const block = { ...blockOf('openai/gpt-5', { temperature: 0 }), processor_type: 'passthrough' as const };
    assert.deepEqual(findSettingProblems(registry, block), []);
    assert.deepEqual(listUnsureSettings(registry, ['temperature'], block), { unsent: [], unknown: [] });
  });
});
