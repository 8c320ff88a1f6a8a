import assert from 'node:assert/strict';
import type { ApiDeps } from '../../../api/deps.ts';
import { assessDraft } from '../../../api/flows/assess-draft.ts';
import type { Step } from '../../../flow/definition.ts';
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
});
