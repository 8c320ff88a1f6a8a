// What is wrong with a draft, or with a version as it is published.
import type { FlowDefinition } from '../../flow/definition.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { Provider } from '../../platform/config/config.ts';
import { listUnsureSettings } from '../../platform/models/find-setting-problems.ts';
import { noteUnlisted } from '../../platform/models/note-unlisted.ts';
import { providerOf } from '../../platform/models/registry.ts';
import type { ApiDeps } from '../deps.ts';
import { findNotes, noteBlocks } from './draft-notes.ts';
import { findProblems } from './draft-problems.ts';
import { type PlacedProblem, type Problem, placeProblem } from './file-problems.ts';
import type { ModelProviders } from './list-models.ts';
import { type ReadCode, readCodeOf } from './read-code-of.ts';

type NoteDeps = Pick<ApiDeps, 'config' | 'registry'>;

/** Lists what keeps a draft from running, its `problems`, and what keeps it from working well, its `notes`. */
export async function assessDraft(
  deps: NoteDeps,
  providers: ModelProviders,
  draft: FlowDefinition,
  readCode: ReadCode,
): Promise<{ problems: PlacedProblem[]; notes: PlacedProblem[] }> {
  const codeOf = await readCodeOf(readCode, listBlocks(draft));
  const notes = [
    ...noteModels(deps, providers, draft),
    ...noteUnsureSettings(deps, draft),
    ...findNotes(draft, codeOf),
  ];
  const place = (problem: Problem) => placeProblem(draft, problem);
  return { problems: findProblems(draft, codeOf, deps.registry).map(place), notes: notes.map(place) };
}

/** Reports models that are in no list, models without an available key, and blocks without a model; suggests models that work. */
function noteModels(deps: NoteDeps, providers: ModelProviders, definition: FlowDefinition): Problem[] {
  const known = new Set(deps.registry.models().map(providerOf));
  const sure = [...providers.keys()].filter((provider) => !deps.config.providers[provider]?.unconfigured);
  const others = sure.map((provider) => `${provider}/…`).join(', ') || 'none';
  return noteBlocks(definition, ({ processor_type, model }) => {
    if (processor_type !== 'llm') return [];
    const unlisted = model === undefined ? undefined : noteUnlisted(deps.registry, model);
    return [...noteKey(model), ...(unlisted === undefined ? [] : [{ field: 'model', message: unlisted }])];
  });

  function noteKey(model: string | undefined): { field: string; message: string }[] {
    if (model === undefined)
      return [{ field: 'model', message: `Choose a model. These work here: ${others}.` }];
    const provider = providerOf(model);
    // A model of an unknown provider is reported as a problem elsewhere.
    if (providers.has(provider) || !known.has(provider)) return [];
    const unless = Object.hasOwn(deps.config.ownKeyProviders, provider)
      ? ', unless callers send their own'
      : '';
    const message = `The block would fail: no key is set for ${model}${unless}. Models that work here: ${others}.`;
    return [{ field: 'model', message }];
  }
}

/**
 * Reports settings without effect: settings that the configuration of a provider leaves out, tools that a model does not take, and
 * a time for a cache that has none. Also reports settings for models that are in no list: only their provider knows whether it
 * takes them.
 */
function noteUnsureSettings({ config, registry }: NoteDeps, definition: FlowDefinition): Problem[] {
  return noteBlocks(definition, (block) => {
    const { model = '', processor_type, processor_config = {} } = block;
    const provider = config.providers[providerOf(model)] ?? config.ownKeyProviders[providerOf(model)];
    const { unsent, unknown } = listUnsureSettings(registry, provider?.refusedFields ?? [], block);
    const notes: { field: string; message: string }[] = [];
    const note = (field: string, message: string) => notes.push({ field, message });
    if (unsent.length > 0)
      note(
        'processor_config',
        `${unsent.join(', ')} will not be sent to ${model}: the refused_fields of its provider leave that out.`,
      );
    if (unknown.length > 0)
      note(
        'processor_config',
        `${model} is in no model list: ${unknown.join(', ')} will be sent, and its provider may refuse that.`,
      );
    if (processor_type !== 'llm') return notes;
    if (processor_config.tools_enabled && registry.find(model)?.tools === false)
      note(
        'processor_config.tools_enabled',
        `${model} takes no tools: a request with tools will be refused.`,
      );
    if (processor_config.prompt_cache === '1h' && provider && !hasCacheTimes(provider, model))
      note(
        'processor_config.prompt_cache',
        `Without effect: only Anthropic's models keep a prompt for a time of your choice.`,
      );
    return notes;
  });
}

/** Whether a request can say how long its prompt is kept. */
function hasCacheTimes({ name, preset = name, api }: Provider, model: string): boolean {
  return api === 'anthropic' || (preset === 'openrouter' && model.startsWith(`${name}/anthropic/`));
}
