// The price of a model, and what an answer costs by it.
import { z } from 'zod';
import type { TokenUsage } from './token-usage.ts';

const usdPerMillionTokens = z.number().min(0).max(10_000);

const rates = z.strictObject({
  input: usdPerMillionTokens,
  /** Input that is read from a cache; `input` when absent. */
  cached_input: usdPerMillionTokens.optional(),
  /** Input that is written to a cache for 5 minutes, or until the provider drops it; `input` when absent. */
  cache_write: usdPerMillionTokens.optional(),
  /** For an hour; `cache_write` when absent. */
  cache_write_1h: usdPerMillionTokens.optional(),
  /** Reasoning included. */
  output: usdPerMillionTokens,
});

export type Rates = z.infer<typeof rates>;

/** In USD per million tokens. */
export const price = rates.extend({
  /** USD for each image of a request, besides its tokens. */
  image: z.number().min(0).max(100).optional(),
  /**
   * The rates of all tokens of a request whose input has more than `above_tokens` tokens. Absent rates of caching are those of the
   * shorter input, times the ratio of both inputs' rates.
   */
  long_context: z
    .array(rates.extend({ above_tokens: z.int().positive() }))
    .nonempty()
    .optional(),
});

/** Factors of the price by the service tier that an answer names: `batch`, `flex`, `priority`. */
export const tiers = z.record(z.string(), z.number().min(0).max(100));

type Priced = {
  price: z.infer<typeof price>;
  tiers?: z.infer<typeof tiers> | undefined;
  reported_cost?: boolean | undefined;
};

/** 1 USD is 100 credits. */
const MICROCREDITS_PER_USD = 1e8;
/** The sum is in millionths of a micro-dollar, so that it is exact without fractions of a token's price. */
const PER_USD = 1e12;

/** Computes the cost of an answer, in whole microcredits, rounded up. */
export function costMicrocredits({ price, tiers = {}, reported_cost }: Priced, usage: TokenUsage): number {
  if (reported_cost && usage.reportedUsd !== undefined) return ceil(usage.reportedUsd * MICROCREDITS_PER_USD);
  const { promptTokens, cachedTokens, cacheWriteTokens, cacheWriteHourTokens, tier = '' } = usage;
  const { input, cached_input = input, cache_write = input, output, ...rest } = ratesFor(price, promptTokens);
  const { cache_write_1h = cache_write } = rest;
  const sum =
    (promptTokens - cachedTokens - cacheWriteTokens - cacheWriteHourTokens) * whole(input) +
    cachedTokens * whole(cached_input) +
    cacheWriteTokens * whole(cache_write) +
    cacheWriteHourTokens * whole(cache_write_1h) +
    usage.completionTokens * whole(output) +
    (usage.images ?? 0) * Math.round((price.image ?? 0) * PER_USD);
  const factor = Object.hasOwn(tiers, tier) ? (tiers[tier] as number) : 1;
  return ceil((sum * factor) / (PER_USD / MICROCREDITS_PER_USD));
}

const CACHE_RATES = ['cached_input', 'cache_write', 'cache_write_1h'] as const;

/** Finds the rates of the longest context that the input exceeds. Those of caching that it lacks rise as its input does. */
export function ratesFor({ long_context = [], ...base }: Priced['price'], tokens: number): Rates {
  const exceeded = long_context.filter(({ above_tokens }) => tokens > above_tokens);
  const longest = exceeded.sort((a, b) => b.above_tokens - a.above_tokens)[0];
  if (!longest) return base;
  const raised = { ...longest };
  for (const rate of base.input > 0 ? CACHE_RATES : [])
    if (base[rate] !== undefined) raised[rate] ??= base[rate] * (longest.input / base.input);
  return raised;
}

/** Micro-dollars per million tokens. */
function whole(usd: number): number {
  return Math.round(usd * 1e6);
}

/** Rounds up, but not what floating point has added. */
function ceil(microcredits: number): number {
  return Math.ceil(Number(microcredits.toFixed(4)));
}
