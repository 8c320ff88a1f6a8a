// Settings of a block that its model does not take: the provider would refuse each request, or ignore them.
import type { Block } from '../../flow/definition.ts';
import type { ModelCapabilities, Registry } from './registry.ts';

const SETTINGS = ['api', 'temperature', 'top_p', 'stop', 'seed', 'reasoning_effort'] as const;
type Setting = (typeof SETTINGS)[number] | 'max_tokens';

export type SettingProblem = { setting: Setting; message: string };

/** Finds the settings that the model of a block is known not to take. */
export function findSettingProblems(
  registry: Pick<Registry, 'find' | 'lists'>,
  { processor_type, model = '', processor_config: config = {} }: Block,
): SettingProblem[] {
  const capabilities = processor_type === 'llm' ? registry.find(model) : undefined;
  if (!capabilities) return [];
  // The limit of an unlisted model is a guess.
  const known = registry.lists(model) ? capabilities : { ...capabilities, output_tokens: undefined };
  return [...settingsIn(config), 'max_tokens' as const].flatMap((setting) => {
    const reason = findReason(setting, config, known);
    return reason === undefined ? [] : [{ setting, message: `${model} does not take ${reason}` }];
  });
}

/**
 * Lists the settings of a block that are `unsent`, since they are in the `refusedFields` of its provider's configuration; and
 * those that are `unknown`: they are sent to a model that is in no list, and its provider may refuse them.
 */
export function listUnsureSettings(
  registry: Pick<Registry, 'lists'>,
  refusedFields: readonly string[],
  { processor_type, model = '', processor_config = {} }: Block,
): { unsent: Setting[]; unknown: Setting[] } {
  if (processor_type !== 'llm') return { unsent: [], unknown: [] };
  const settings = settingsIn(processor_config);
  return {
    unsent: settings.filter((setting) => refusedFields.includes(setting)),
    unknown: registry.lists(model) ? [] : settings.filter((setting) => !refusedFields.includes(setting)),
  };
}

type Config = NonNullable<Block['processor_config']>;

function settingsIn(config: Config): Setting[] {
  return SETTINGS.filter((setting) => config[setting] !== undefined);
}

/** Whether a model reasons as a block has it. */
function reasons({ reasoning_effort: effort }: Config, capabilities: ModelCapabilities): boolean {
  return effort ? effort !== 'none' : capabilities.reasons_by_default === true;
}

/** Returns what the model does not take and what to do; undefined where it takes the setting or nothing is known. */
function findReason(setting: Setting, config: Config, capabilities: ModelCapabilities): string | undefined {
  const {
    refused_settings: refused = [],
    reasoning_efforts: efforts,
    sampling_without_reasoning,
    exclusive_sampling,
    blank_stops,
    reasoning_tokens_min: thoughts = 0,
    temperature_max: warmest = Infinity,
    output_tokens: longest = Infinity,
  } = capabilities;
  if (refused.some((one) => one === setting)) return `${setting}: leave it out.`;
  const { reasoning_effort: effort } = config;
  const { temperature = 0, max_tokens = 0 } = config;
  if (setting === 'temperature' && temperature > warmest) return `a temperature above ${warmest}: lower it.`;
  if (setting === 'max_tokens' && max_tokens > longest)
    return `max_tokens above ${longest}, its longest answer: lower it.`;
  const hasBlankStop = [config.stop ?? []].flat().some((text) => text.trim() === '');
  if (setting === 'stop' && blank_stops === false && hasBlankStop)
    return 'a stop of white space alone: write a text, or leave it out.';
  const asksResponses = config.api === 'openai-responses';
  if (asksResponses && (setting === 'stop' || setting === 'seed'))
    return `${setting} with api: openai-responses, which has no such field: leave one of them out.`;
  if (setting === 'reasoning_effort' && effort && efforts && !efforts.includes(effort))
    return efforts.length === 0
      ? 'reasoning_effort: leave it out.'
      : `the reasoning_effort ${effort}: use one of ${efforts.join(', ')}.`;
  const isReasoned = effort !== undefined && effort !== 'none';
  if (setting === 'reasoning_effort' && isReasoned && max_tokens > 0 && max_tokens <= thoughts)
    return `reasoning_effort with at most ${thoughts} max_tokens, of which reasoning is a part: raise max_tokens, or leave one of them out.`;
  if (setting === 'top_p' && exclusive_sampling && config.temperature !== undefined)
    return 'top_p beside temperature: leave one of them out.';
  const isSampling = setting === 'temperature' || setting === 'top_p';
  if (isSampling && sampling_without_reasoning && reasons(config, capabilities))
    return `${setting} while it reasons: leave it out${efforts && !efforts.includes('none') ? '' : ', or set reasoning_effort to none'}.`;
  return undefined;
}
