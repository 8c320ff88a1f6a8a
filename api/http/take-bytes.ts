import { type ByteBudget, SMALL_BYTES } from '../../fairness/byte-budget.ts';
import { createLargeWork, LARGE_BYTES } from '../../fairness/large-work.ts';
import type { EndTurn } from '../../fairness/turns.ts';
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
  return waitInTime((late) => budget.take(owner, bytes, late));
}

/** The bodies and answers of one process: parsing and writing a large one blocks it. */
const largeWork = createLargeWork();

/** Waits until `owner` may parse or write so many bytes, where that is large. Throws RATE_LIMITED too. */
export async function takeLargeWork(owner: string, bytes: number): Promise<EndTurn> {
  if (bytes < LARGE_BYTES) return () => undefined;
  return waitInTime((late) => largeWork.take(owner, bytes, late));
}

async function waitInTime<T>(take: (late: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(WAIT_MAX_MS);
  try {
    return await take(late);
  } catch (error) {
    if (!late.aborted) throw error;
    throw new RetryLater(
      'RATE_LIMITED',
      `Too many large requests and answers are under way: try again in ${RETRY_AFTER_SECONDS} s.`,
      RETRY_AFTER_SECONDS,
    );
  }
}
