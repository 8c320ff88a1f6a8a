import type { FlowDefinition } from '../../flow/definition.ts';
import { BLOCK_RUNS_MAX } from '../../flow/limits.ts';
import { countBlockRuns, listBlocks, listInnerSteps } from '../../flow/plan.ts';
import { providerOf } from '../../platform/models/registry.ts';
import type { ApiDeps } from '../deps.ts';
import type { ModelProviders } from './list-models.ts';

/** Reports what is no problem of a draft, but keeps it from working well. */
export function noteDraft(...[deps, providers, draft]: Parameters<typeof noteModels>): string[] {
  return [...noteModels(deps, providers, draft), ...noteUnusedFields(draft), ...noteLongLoops(draft)];
}

/**
 * Reports fields that have no effect in their kind of block (docs/blocks.md). The API allows every field in every
 * block.
 */
export function noteUnusedFields(definition: FlowDefinition): string[] {
  return listBlocks(definition).flatMap(({ step_id, processor_type, model, prompt, processor_config }) => {
    if (processor_type === 'llm') return [];
    const isCode = processor_type === 'code';
    const settings = Object.keys(processor_config ?? {}).filter((key) => !isCode || key !== 'timeout_ms');
    const unused = [
      ...(model === undefined ? [] : ['model']),
      ...(isCode || prompt === undefined ? [] : ['prompt']),
      ...settings.map((key) => `processor_config.${key}`),
    ];
    if (unused.length === 0) return [];
    return `${step_id} is a ${processor_type} block, in which this has no effect: ${unused.join(', ')}.`;
  });
}

/** Reports the loops that may exceed what a run executes. */
export function noteLongLoops({ steps }: FlowDefinition): string[] {
  return steps.flatMap((step) => {
    const most = countBlockRuns([step], 'most');
    if (most <= BLOCK_RUNS_MAX) return [];
    if (step.type !== 'loop') return listInnerSteps(step).flatMap((inner) => noteLongLoops({ steps: inner }));
    const perIteration = countBlockRuns(step.body, 'most');
    const fit = Math.floor(BLOCK_RUNS_MAX / perIteration);
    return `${step.step_id} may run ${step.max_iterations} iterations of ${perIteration} blocks. A run executes at most ${BLOCK_RUNS_MAX} blocks, so it would fail with more than ${fit} iterations.`;
  });
}

/** Reports blocks without a model and models without an available key, and suggests models that work. */
function noteModels(
  deps: Pick<ApiDeps, 'config' | 'registry'>,
  providers: ModelProviders,
  definition: FlowDefinition,
): string[] {
  const blocks = listBlocks(definition).filter(({ processor_type }) => processor_type === 'llm');
  const known = new Set(deps.registry.models().map(providerOf));
  const others = [...providers.keys()].map((provider) => `${provider}/…`).join(', ') || 'none';
  return blocks.flatMap(({ step_id, model }) => {
    if (model === undefined) return `${step_id} needs a model. Those that work here: ${others}.`;
    const provider = providerOf(model);
    // A model of an unknown provider is reported as a problem elsewhere.
    if (providers.has(provider) || !known.has(provider)) return [];
    const unless = Object.hasOwn(deps.config.providerUrls, provider) ? ', unless callers send their own' : '';
    return `${step_id} would fail: no key is set for ${model}${unless}. Models that work here: ${others}.`;
  });
}
