import type { AnswerTokens } from '../../flow/model-call.ts';

/** The usage of one answer, or of all answers for a block. */
export type TokenUsage = {
  /** All input, cached and cache-writing tokens included. */
  promptTokens: number;
  /** The part of the input that was read from a cache. */
  cachedTokens: number;
  /** The part of the input that was written to a cache for 5 minutes, or without a time. */
  cacheWriteTokens: number;
  cacheWriteHourTokens: number;
  /** All output, reasoning included. */
  completionTokens: number;
  /** The part of the output that is reasoning. */
  reasoningTokens: number;
  /** Whether counts are estimates, because the provider left them out. */
  isEstimated?: boolean;
  images?: number;
  /** The service tier of the answer, as its provider names it. */
  tier?: string;
  /** The cost that the provider reported, in USD. */
  reportedUsd?: number;
};

export const NO_TOKENS = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
} satisfies TokenUsage;

/** Adds the tokens of an answer to `sum`. */
export function addUsage(sum: TokenUsage, answer: TokenUsage): void {
  for (const count of Object.keys(NO_TOKENS) as (keyof typeof NO_TOKENS)[]) sum[count] += answer[count];
  if (answer.isEstimated) sum.isEstimated = true;
}

/** Sums up cache writes of any duration. */
export function toAnswerTokens(usage: TokenUsage): AnswerTokens {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usage;
  const cacheWriteTokens = usage.cacheWriteTokens + usage.cacheWriteHourTokens;
  return { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens };
}
