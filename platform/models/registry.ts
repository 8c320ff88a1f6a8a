// platform/models/ knows what each model can do and what its tokens cost (models.json, overlaid by the operator's lists), and how a
// prompt and a schema are put to a model.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { REASONING_EFFORTS } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { MODEL_TIMEOUT_MAX_MS } from '../../flow/limits.ts';
import shipped from './models.json' with { type: 'json' };
import { costMicrocredits, price, tiers } from './price.ts';
import type { TokenUsage } from './token-usage.ts';

const capabilities = z.strictObject({
  /** Empty for a text-only model. */
  image_mime_types: z.array(z.string().startsWith('image/')),
  tools: z.boolean(),
  /** Whether `response_format: json_schema` is honoured; else the schema goes into the instructions. */
  json_schema: z.boolean(),
  context_tokens: z.int().positive(),
  /** The longest answer. It is sent as the limit where a block sets none, so only providers that require a limit have it. */
  output_tokens: z.int().positive().optional(),
  /** The time that one request may take unless its block says otherwise; MODEL_TIMEOUT_DEFAULT_MS when absent. */
  timeout_ms: z.int().positive().max(MODEL_TIMEOUT_MAX_MS).optional(),
  price,
  tiers: tiers.optional(),
  /** Settings of processor_config that the provider refuses or ignores for this model. */
  refused_settings: z
    .array(z.enum(['api', 'temperature', 'top_p', 'stop', 'seed', 'reasoning_effort']))
    .optional(),
  /** The values of reasoning_effort that the model takes; [] for none, any when absent. */
  reasoning_efforts: z.array(z.enum(REASONING_EFFORTS)).optional(),
  /** The fewest tokens of reasoning that can be asked for; they are part of `max_tokens`. */
  reasoning_tokens_min: z.int().positive().optional(),
  temperature_max: z.number().optional(),
  /** Whether temperature and top_p are refused while the model reasons. */
  sampling_without_reasoning: z.boolean().optional(),
  /** Whether the model reasons where a block sets no reasoning_effort. */
  reasons_by_default: z.boolean().optional(),
  /** Whether temperature and top_p are refused together. */
  exclusive_sampling: z.boolean().optional(),
  /** False: a `stop` of white space alone is refused. */
  blank_stops: z.boolean().optional(),
  /** False: the server takes images as base64 only, not as URLs. */
  image_urls: z.boolean().optional(),
  /** Whether the provider's answers say what they cost (`usage.cost`, USD), which is then charged in place of the price. */
  reported_cost: z.boolean().optional(),
});

/** A list by the name of the model; `$comment` says where it comes from, and is not read. */
const modelList = z.record(z.string().regex(/^[a-z0-9][a-z0-9_-]*\/\S+$/), capabilities.partial(), {
  error: (issue) =>
    issue.code === 'invalid_key' ? 'The name must read provider/model or provider/*' : undefined,
});

/** The date at the end of a name, as OpenAI, Azure and Anthropic write it. */
const VERSION_DATE = /-20\d\d-?\d\d-?\d\d$/;

/** The capabilities and price of one model; `price` is in USD per million tokens. */
export type ModelCapabilities = z.infer<typeof capabilities>;

/** The models of a provider: those of the providers `like`, of which the first go first, with `capabilities` in its `*` entry. */
export type ProviderModels = { like: string[]; capabilities: { [field: string]: unknown } };

export type Registry = {
  /** Undefined when the list has neither the model nor its provider. */
  find(model: string): ModelCapabilities | undefined;
  /** Throws MODEL_NOT_CONFIGURED then. */
  capabilities(model: string): ModelCapabilities;
  /** Lists the names that have a price: those of models, and `provider/*` for all other models of a provider. */
  models(): string[];
  /** Whether the list names the model itself or the model that it is a version of, not only its provider. */
  lists(model: string): boolean;
  /** Computes the cost in whole microcredits, rounded up; 1 credit is 0.01 USD. */
  costMicrocredits(model: string, usage: TokenUsage): number;
};

/** A list from an operator. Errors show `name` as the source of the list. */
type ModelList = { name: string; content: unknown };

/**
 * Reads the model list once. An entry takes missing fields from its provider's `*` entry, which also describes the
 * provider's unlisted models. `file` and `fetched` have the shape of models.json. Each overrides the earlier lists, field
 * by field. `providers` are those of the configuration beyond the presets; the operator's lists override them too. Throws an
 * Error that names the list and each wrong entry.
 */
export function createRegistry(
  options: {
    file?: string | undefined;
    fetched?: ModelList | undefined;
    providers?: Record<string, ProviderModels>;
  } = {},
): Registry {
  const lists: ModelList[] = [];
  if (options.file !== undefined) lists.push(readFile(options.file));
  if (options.fetched !== undefined) lists.push(options.fetched);
  const models = new Map(Object.entries(parseList({ name: 'models.json', content: shipped })));
  addProviders(models, options.providers ?? {});
  for (const list of lists)
    for (const [id, entry] of Object.entries(parseList(list)))
      models.set(id, { ...models.get(id), ...entry });

  const resolved = new Map<string, ModelCapabilities>();
  for (const [id, entry] of models) {
    const complete = capabilities.safeParse({ ...models.get(providerEntry(id)), ...entry });
    if (!complete.success) {
      throw new Error(
        `${lists.map(({ name }) => name).join(', then ')} leaves fields of "${id}" out, and there is no complete ` +
          `"${providerEntry(id)}" to take them from:\n${z.prettifyError(complete.error)}`,
      );
    }
    resolved.set(id, complete.data);
  }

  function find(model: string): ModelCapabilities | undefined {
    // Stores and logs cannot take control characters.
    if (/\p{Cc}/u.test(model)) return undefined;
    return findListed(model) ?? resolved.get(providerEntry(model));
  }

  /** A version of a model, such as `gpt-5-mini-2025-08-07`, is like the model, unless it has an entry of its own. */
  function findListed(model: string): ModelCapabilities | undefined {
    return resolved.get(model) ?? resolved.get(model.replace(VERSION_DATE, ''));
  }

  function get(model: string): ModelCapabilities {
    const found = find(model);
    if (found) return found;
    const providers = [...resolved.keys()].filter((id) => id.endsWith('/*')).map((id) => id.slice(0, -1));
    throw new ServiceError(
      'MODEL_NOT_CONFIGURED',
      `"${model}" is not a known model: its name has to begin with one of ${providers.join(', ')}.`,
      { model },
    );
  }

  return {
    find,
    capabilities: get,
    models: () => [...resolved.keys()],
    lists: (model) => findListed(model) !== undefined,
    costMicrocredits(model, usage) {
      return costMicrocredits(get(model), usage);
    },
  };
}

/** Returns what the name of a model begins with: its provider's, or `''` where it has none. */
export function providerOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf('/')));
}

function providerEntry(model: string): string {
  return `${providerOf(model)}/*`;
}

/** Adds the models of further providers: those of the provider that each is like, and its own `*` entry. */
function addProviders(
  models: Map<string, Partial<ModelCapabilities>>,
  providers: Record<string, ProviderModels>,
) {
  for (const [name, { like, capabilities }] of Object.entries(providers)) {
    const { [`${name}/*`]: own = {} } = parseList({
      name: `The entry "${name}" of WEIR_PROVIDERS_FILE`,
      content: { [`${name}/*`]: capabilities },
    });
    for (const source of like)
      for (const [id, entry] of [...models])
        if (providerOf(id) === source && !models.has(name + id.slice(source.length)))
          models.set(name + id.slice(source.length), entry);
    models.set(`${name}/*`, { ...models.get(`${name}/*`), ...own });
  }
}

function readFile(file: string): ModelList {
  const name = `The models file ${file}`;
  try {
    return { name, content: JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    throw new Error(`${name} can't be read: ${(error as Error).message}`);
  }
}

function parseList({ name, content }: ModelList): z.infer<typeof modelList> {
  const parsed = modelList.safeParse(withoutComment(content));
  if (parsed.success) return parsed.data;
  throw new Error(`${name} is not valid:\n${z.prettifyError(parsed.error)}`);
}

function withoutComment(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  const { $comment: _, ...models } = content as { [model: string]: unknown };
  return models;
}
