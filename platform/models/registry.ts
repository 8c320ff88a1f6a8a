// platform/models/ knows what each model can do and what its tokens cost (models.json, overlaid by the operator's lists), and how a
// prompt and a schema are put to a model.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { MODEL_TIMEOUT_MAX_MS } from '../../flow/limits.ts';
import shipped from './models.json' with { type: 'json' };

const usdPerMillionTokens = z.number().min(0).max(10_000);

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
  price: z.strictObject({ input: usdPerMillionTokens, output: usdPerMillionTokens }),
});

const modelList = z.record(z.string().regex(/^[a-z0-9]+\/\S+$/), capabilities.partial(), {
  error: (issue) =>
    issue.code === 'invalid_key' ? 'The name must read provider/model or provider/*' : undefined,
});

/** The capabilities and price of one model; `price` is in USD per million tokens. */
export type ModelCapabilities = z.infer<typeof capabilities>;

export type TokenUsage = { promptTokens: number; completionTokens: number };

export type Registry = {
  /** Undefined when the list has neither the model nor its provider. */
  find(model: string): ModelCapabilities | undefined;
  /** Throws MODEL_NOT_CONFIGURED then. */
  capabilities(model: string): ModelCapabilities;
  /** Lists the names that have a price: those of models, and `provider/*` for all other models of a provider. */
  models(): string[];
  /** Whether the list names the model itself, not only its provider. */
  lists(model: string): boolean;
  /** Computes the cost in whole microcredits, rounded up; 1 credit is 0.01 USD. */
  costMicrocredits(model: string, usage: TokenUsage): number;
};

/** A list from an operator. Errors show `name` as the source of the list. */
type ModelList = { name: string; content: unknown };

/**
 * Reads the model list once. An entry takes missing fields from its provider's `*` entry, which also describes the
 * provider's unlisted models. `file` and `fetched` have the shape of models.json. Each overrides the earlier lists, field
 * by field. Throws an Error that names the list and each wrong entry.
 */
export function createRegistry(
  options: { file?: string | undefined; fetched?: ModelList | undefined } = {},
): Registry {
  const lists: ModelList[] = [];
  if (options.file !== undefined) lists.push(readFile(options.file));
  if (options.fetched !== undefined) lists.push(options.fetched);
  const models = new Map(Object.entries(modelList.parse(shipped)));
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
    return resolved.get(model) ?? resolved.get(providerEntry(model));
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
    lists: (model) => resolved.has(model),
    costMicrocredits(model, usage) {
      const { price } = get(model);
      // Whole micro-dollars per million tokens keep the sum exact; one USD is 1e8 microcredits.
      const input = usage.promptTokens * Math.round(price.input * 1e6);
      const output = usage.completionTokens * Math.round(price.output * 1e6);
      return Math.ceil((input + output) / 1e4);
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

function readFile(file: string): ModelList {
  const name = `The models file ${file}`;
  try {
    return { name, content: JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    throw new Error(`${name} can't be read: ${(error as Error).message}`);
  }
}

function parseList({ name, content }: ModelList): z.infer<typeof modelList> {
  const parsed = modelList.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new Error(`${name} is not valid:\n${z.prettifyError(parsed.error)}`);
}
