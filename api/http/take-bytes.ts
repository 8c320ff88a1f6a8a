import { type ByteBudget, SMALL_BYTES } from '../../fairness/byte-budget.ts';
import { RETRY_AFTER_SECONDS } from './errors.ts';
import { RetryLater } from './retry-later.ts';

/** Memory of one process for bodies, and as much again for answers, counted as JSON; parsed JSON takes several times that. */
export const IN_HAND_BYTES = 128 * 1024 * 1024;
/** The share of one organization, whose callers may send and read slowly. */
export const SHARE_BYTES = IN_HAND_BYTES / 4;
/** Shorter than a request may take to arrive. */
const WAIT_MAX_MS = 15_000;

/**
 * Waits until `owner`, an organization or a user, may hold so many bytes; returns the function that gives them back. Throws
 * RATE_LIMITED when its turn does not come.
 */
export async function takeBytes(budget: ByteBudget, owner: string, bytes: number): Promise<() => void> {
  if (bytes < SMALL_BYTES) return () => undefined;
  const late = AbortSignal.timeout(WAIT_MAX_MS);
  try {
    return await budget.take(owner, bytes, late);
  } catch (error) {
    if (!late.aborted) throw error;
    throw new RetryLater(
      'RATE_LIMITED',
      `Too many large requests and answers are under way: try again in ${RETRY_AFTER_SECONDS} s.`,
      RETRY_AFTER_SECONDS,
    );
  }
}
