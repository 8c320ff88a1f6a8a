import { z } from 'zod';
import type { TokenUsage } from '../../platform/models/registry.ts';

/** Far more than any call uses; the sums for a block, and their cost, fit their database columns. */
const TOKENS_MAX = 1_000_000_000;

/** A count that is missing or invalid is 0; an impossibly large one is cut. */
const tokenCount = z
  .number()
  .nonnegative()
  .transform((tokens) => Math.min(Math.ceil(tokens), TOKENS_MAX))
  .catch(0);

const reported = z.object({
  usage: z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount }),
});

/** Reads the usage that an answer of any shape reports; 0 where it reports none. */
export function readUsage(answer: unknown): TokenUsage {
  const usage = reported.safeParse(answer).data?.usage;
  return { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: usage?.completion_tokens ?? 0 };
}
