import { z } from 'zod';
import type { TokenUsage } from '../models/registry.ts';

/** Far more than any call uses: those of a block, and what they cost, fit their columns. */
const TOKENS_MAX = 1_000_000_000;

/** A count that a provider leaves out or gets wrong is 0; one that cannot be is cut. */
const tokenCount = z
  .number()
  .nonnegative()
  .transform((tokens) => Math.min(Math.ceil(tokens), TOKENS_MAX))
  .catch(0);

const reported = z.object({
  usage: z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount }),
});

/** What an answer of any shape says it has used; nothing when it does not say. */
export function readUsage(answer: unknown): TokenUsage {
  const usage = reported.safeParse(answer).data?.usage;
  return { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: usage?.completion_tokens ?? 0 };
}
