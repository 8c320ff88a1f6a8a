import assert from 'node:assert/strict';
import type { ApiDeps } from '../../../api/deps.ts';
import { assessDraft } from '../../../api/flows/assess-draft.ts';
import type { Block, Step } from '../../../flow/definition.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { llm } from '../../blocks.ts';

describe('the notes on a draft', () => {
  it("say that a setting is not sent where the provider's configuration leaves it out", async () => {
    const vllm = { name: 'vllm', refusedFields: ['seed'] };
    const deps = { config: { providers: { vllm }, ownKeyProviders: {} }, registry: createRegistry() };
    const step = { ...llm('ask', 'Hi', 'vllm/qwen'), processor_config: { seed: 7, top_p: 1 } } as Step;
    const providers = new Map([['vllm', 'service' as const]]);
    const { notes } = await assessDraft(
      deps as unknown as ApiDeps,
      providers,
      { steps: [step] },
      async () => [],
    );
    const said = notes.flatMap(({ field, message }) => (field === 'processor_config' ? [message] : []));
    assert.match(said[0] ?? '', /^seed will not be sent to vllm\/qwen: the refused_fields of its provider/);
    assert.match(said[1] ?? '', /in no model list: top_p will be sent/);
  });

  async function noted(model: string, processor_config: Block['processor_config']): Promise<string[]> {
    const name = model.slice(0, model.indexOf('/'));
    const api = name === 'anthropic' ? 'anthropic' : 'openai-chat';
    const deps = {
      config: { providers: { [name]: { name, api } }, ownKeyProviders: {} },
      registry: createRegistry(),
    } as unknown as ApiDeps;
    const steps = [{ ...llm('ask', 'Hi', model), processor_config } as Step];
    const { notes } = await assessDraft(deps, new Map([[name, 'service']]), { steps }, async () => []);
    return notes.flatMap(({ field }) => field ?? []).filter((field) => field !== 'model');
  }

  it('say that a model takes no tools', async () => {
    const config = { tools_enabled: true };
    assert.deepEqual(await noted('demo/no-tools', config), ['processor_config.tools_enabled']);
    assert.deepEqual(await noted('demo/chat', config), []);
  });

  it('say that only models of Anthropic take a time for their cache', async () => {
    const config = { prompt_cache: '1h' as const };
    for (const model of ['openai/gpt-5', 'openrouter/openai/gpt-5', 'mistral/mistral-small-latest'])
      assert.deepEqual(await noted(model, config), ['processor_config.prompt_cache'], model);
    for (const model of ['anthropic/claude-opus-5', 'openrouter/anthropic/claude-opus-5'])
      assert.deepEqual(await noted(model, config), [], model);
  });
});
