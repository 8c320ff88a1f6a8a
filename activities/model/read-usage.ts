// Reads what an answer used, from the many fields in which providers report it.
import type { TokenUsage } from '../../platform/models/token-usage.ts';

/** More than any model can read or write in one call. A higher count is an error of the server, and counts as missing. */
const TOKENS_MAX = 10_000_000;
const USD_MAX = 1_000_000;

type Fields = { [name: string]: unknown };

/**
 * Reads the usage that an answer of any shape reports; undefined where it reports none. `expect` estimates counts that are
 * missing and do not follow from the others.
 *
 * - OpenAI and most others: cached input is part of `prompt_tokens`, and reasoning is part of `completion_tokens`.
 * - Gemini and xAI: reasoning is part of neither, but of `total_tokens`.
 * - Anthropic: `input_tokens` leave out cache reads and writes.
 * - DeepSeek has `prompt_cache_hit_tokens`. Moonshot and Together have `cached_tokens` outside the details.
 * - OpenRouter has `cache_write_tokens`, and `cost` in USD. LiteLLM has `cache_creation_tokens`, new-api `cached_creation_tokens`.
 *
 * Where `total_tokens` are given, they decide what is part of what, so that no token counts twice.
 */
export function readUsage(answer: unknown, expect: () => TokenUsage): TokenUsage | undefined {
  const usage = findUsage(answer);
  if (!usage) return undefined;
  let isEstimated = false as boolean;
  function expected(): TokenUsage {
    isEstimated = true;
    return expect();
  }
  const total = countOf(usage.total_tokens);
  const { cached, written, writtenHour } = readCache(usage);
  let reasoning = readReasoning(usage);
  let output = readOutputTokens(usage);
  let input = readInputTokens(usage);
  // Every request has a prompt.
  if (input === 0 && (total ?? 0) > (output ?? 0) + reasoning) input = undefined;

  if (input !== undefined) {
    const besides = cached + written;
    if (isBesides(usage, { input, besides, total, output, reasoning })) input += besides;
    if (output === undefined && total !== undefined) output = Math.max(0, total - input);
  }
  if (output !== undefined) {
    const rest = input === undefined || total === undefined ? 0 : total - input - output;
    if (rest > 0 && rest >= reasoning) {
      output += rest;
      reasoning ||= rest;
    } else if (reasoning > output) output += reasoning;
  }
  if (input === undefined && total !== undefined) {
    output ??= Math.min(total, expected().completionTokens);
    input = Math.max(0, total - output);
  }

  const promptTokens = Math.min(input ?? expected().promptTokens, TOKENS_MAX);
  const completionTokens = Math.min(output ?? expected().completionTokens, TOKENS_MAX);
  const cachedTokens = Math.min(cached, promptTokens);
  const writes = Math.min(written, promptTokens - cachedTokens);
  const cacheWriteHourTokens = Math.min(writtenHour, writes);
  const tier = fieldsOf(answer).service_tier ?? usage.service_tier;
  const reportedUsd = readCost(usage);
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: writes - cacheWriteHourTokens,
    cacheWriteHourTokens,
    completionTokens,
    reasoningTokens: Math.min(reasoning, completionTokens),
    ...(isEstimated && { isEstimated }),
    ...(typeof tier === 'string' && { tier }),
    ...(reportedUsd !== undefined && { reportedUsd }),
  };
}

/** Finds the object that has counts, or a cost; streams of Groq and Moonshot have it elsewhere. */
function findUsage(answer: unknown): Fields | undefined {
  const { usage, x_groq, choices } = fieldsOf(answer);
  const [choice] = Array.isArray(choices) ? choices : [];
  return [usage, fieldsOf(x_groq).usage, fieldsOf(choice).usage]
    .map(fieldsOf)
    .find((each) =>
      [readInputTokens(each), readOutputTokens(each), countOf(each.total_tokens), readCost(each)].some(
        (count) => count !== undefined,
      ),
    );
}

function readInputTokens(usage: Fields): number | undefined {
  const { prompt_cache_hit_tokens: hit, prompt_cache_miss_tokens: miss } = usage;
  const split = countOf(miss) === undefined ? undefined : most(hit) + most(miss);
  return firstOf(countOf(usage.prompt_tokens), countOf(usage.input_tokens), split);
}

function readOutputTokens(usage: Fields): number | undefined {
  return firstOf(countOf(usage.completion_tokens), countOf(usage.output_tokens));
}

function readReasoning(usage: Fields): number {
  const { reasoning_tokens, completion_tokens_details, output_tokens_details } = usage;
  return most(
    reasoning_tokens,
    fieldsOf(completion_tokens_details).reasoning_tokens,
    fieldsOf(output_tokens_details).reasoning_tokens,
  );
}

/** Reads the counts of a cache: tokens read from it, tokens written to it, and tokens written for an hour, a part of the latter. */
function readCache(usage: Fields): { cached: number; written: number; writtenHour: number } {
  const details = [usage.prompt_tokens_details, usage.input_tokens_details, usage.prompt_token_details].map(
    fieldsOf,
  );
  const inDetails = (field: string) => most(...details.map((each) => each[field]));
  const creations = [
    usage.cache_creation,
    ...details.flatMap(({ cache_creation, cache_creation_token_details }) => [
      cache_creation,
      cache_creation_token_details,
    ]),
  ].map(fieldsOf);
  const cached = most(
    inDetails('cached_tokens'),
    usage.cached_tokens,
    usage.num_cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.cache_read_input_tokens,
  );
  const writtenHour = most(
    inDetails('cache_write_1h_tokens'),
    ...creations.map((each) => each.ephemeral_1h_input_tokens),
    usage.claude_cache_creation_1_h_tokens,
  );
  const writtenShort = most(
    ...creations.map((each) => each.ephemeral_5m_input_tokens),
    usage.claude_cache_creation_5_m_tokens,
  );
  const written = most(
    inDetails('cache_write_tokens') + inDetails('cache_write_1h_tokens'),
    writtenShort + writtenHour,
    usage.cache_creation_input_tokens,
    inDetails('cache_creation_input_tokens'),
    inDetails('cache_creation_tokens'),
    inDetails('cached_creation_tokens'),
  );
  return { cached, written, writtenHour };
}

/** Whether cache reads and writes are not part of the input that `usage` reports. */
function isBesides(
  usage: Fields,
  counts: {
    input: number;
    besides: number;
    total: number | undefined;
    output: number | undefined;
    reasoning: number;
  },
): boolean {
  const { input, besides, total, output, reasoning } = counts;
  if (besides === 0) return false;
  const isAnthropic =
    usage.cache_read_input_tokens !== undefined || usage.cache_creation_input_tokens !== undefined;
  const rest = total === undefined || output === undefined ? undefined : total - input - output;
  if (rest !== undefined && rest >= besides) {
    if (rest === besides || rest === besides + reasoning) return true;
    // What is left of the total is reasoning, where a provider counts the cache as OpenAI does.
    return besides > input || (isAnthropic && rest !== reasoning);
  }
  if (!isAnthropic) return false;
  if (besides > input) return true;
  return rest === undefined && !countOf(usage.prompt_tokens);
}

/** xAI's unit. */
const TICKS_PER_USD = 1e10;

/**
 * Reads the cost in USD; Perplexity has it as `total_cost`, DeepInfra as `estimated_cost`, and xAI in ticks. With a key of the
 * operator at the provider itself (`is_byok`), `cost` is OpenRouter's fee, and the provider's bill comes on top.
 */
function readCost(usage: Fields): number | undefined {
  const { cost, estimated_cost, cost_in_usd_ticks, is_byok, cost_details } = usage;
  const ticks = numberOf(cost_in_usd_ticks);
  const usd =
    numberOf(fieldsOf(cost).total_cost ?? cost ?? estimated_cost) ??
    (ticks === undefined ? undefined : ticks / TICKS_PER_USD);
  if (usd === undefined) return undefined;
  const upstream = is_byok === true ? (numberOf(fieldsOf(cost_details).upstream_inference_cost) ?? 0) : 0;
  return Math.min(usd + upstream, USD_MAX);
}

/** Returns the first count that is not 0, or 0 where there are only such counts. */
function firstOf(...counts: (number | undefined)[]): number | undefined {
  return counts.find((count) => count) ?? counts.find((count) => count !== undefined);
}

/** Returns the largest of the counts; the same count may be in several fields. */
function most(...values: unknown[]): number {
  return Math.max(0, ...values.map((value) => countOf(value) ?? 0));
}

/** Reads a whole number of tokens, rounded up; undefined where there is none. */
function countOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return number === undefined || number > TOKENS_MAX ? undefined : Math.ceil(number);
}

/** Reads a number that is not negative, also where it is written as text. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number < Infinity ? number : undefined;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
