import { type ByteBudget, SMALL_BYTES } from '../../fairness/byte-budget.ts';
import { LARGE_BYTES, type LargeWork } from '../../fairness/large-work.ts';
import type { EndTurn } from '../../fairness/turns.ts';
import { countRefusal } from '../../observability/metrics/http-metrics.ts';
import { RETRY_AFTER_SECONDS, RetryLater } from './retry-later.ts';

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

/** Waits until `owner` may parse or write so many bytes, where that is large. Throws RATE_LIMITED too. */
export async function takeLargeWork(
  work: LargeWork,
  owner: string,
  bytes: number,
  options?: { patient: boolean },
): Promise<EndTurn> {
  if (bytes < LARGE_BYTES) return () => undefined;
  return waitInTime((signal) => work.take(owner, bytes, { ...options, signal }));
}

/** Waits for a turn until `late` aborts. Throws RATE_LIMITED when it does not come. */
export async function waitInTime<T>(take: (late: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(WAIT_MAX_MS);
  try {
    return await take(late);
  } catch (error) {
    if (!late.aborted) throw error;
    countRefusal('bytes');
    throw new RetryLater(
      'RATE_LIMITED',
      `Too many large requests and answers are under way: try again in ${RETRY_AFTER_SECONDS} s.`,
      RETRY_AFTER_SECONDS,
    );
  }
}
