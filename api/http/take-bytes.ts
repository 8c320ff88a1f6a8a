import { ServiceError } from '../../flow/errors.ts';
import { type ByteBudget, SMALL_BYTES } from '../../platform/limits/byte-budget.ts';
import { LARGE_BYTES, type LargeWork } from '../../platform/limits/large-work.ts';
import { type TurnToLeave, takeTurnToLeave } from '../../platform/limits/turn-to-leave.ts';
import type { EndTurn } from '../../platform/limits/turns.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import { RETRY_AFTER_SECONDS, RetryLater } from './request-errors.ts';

/** Shorter than a request may take to arrive. */
export const WAIT_MAX_MS = 15_000;

/**
 * Waits until `owner`, an organization or a user, may hold so many bytes; returns the function that gives them back. Throws
 * RATE_LIMITED when its turn does not come, and REQUEST_TIMEOUT when the signal that `gone` makes aborts first.
 */
export async function takeBytes(
  budget: ByteBudget,
  owner: string,
  bytes: number,
  gone?: () => AbortSignal,
): Promise<() => void> {
  if (bytes < SMALL_BYTES) return () => undefined;
  return waitInTime((signal) => budget.take(owner, bytes, signal), gone?.());
}

/** Waits until `owner` may parse or write so many bytes, where that is large. Throws as `takeBytes` does. */
export async function takeLargeWork(
  work: LargeWork,
  owner: string,
  bytes: number,
  { gone, ...options }: { patient?: boolean; gone?: () => AbortSignal } = {},
): Promise<EndTurn> {
  if (bytes < LARGE_BYTES) return () => undefined;
  return waitInTime((signal) => work.take(owner, bytes, { ...options, signal }), gone?.());
}

/**
 * Waits for such a turn, which a request that holds what it works on may leave: when it comes back, it goes first, and is not
 * refused. Throws as `takeBytes` does.
 */
export function takeWorkToLeave(
  work: LargeWork,
  owner: string,
  bytes: number,
  gone?: () => AbortSignal,
): Promise<TurnToLeave> {
  const takeAgain = async () => {
    const signal = gone?.();
    try {
      return await work.take(owner, bytes, { first: true, signal });
    } catch (error) {
      throw signal?.aborted ? callerGone() : error;
    }
  };
  return takeTurnToLeave(() => takeLargeWork(work, owner, bytes, { gone }), takeAgain);
}

/** Ends a request whose caller has gone: nobody reads it. */
export function callerGone(): ServiceError {
  return new ServiceError('REQUEST_TIMEOUT', 'The caller has gone.');
}

/** Waits for a turn. Throws what `refuse` makes when it does not come in time, and REQUEST_TIMEOUT when `gone` aborts first. */
export async function waitInTime<T>(
  take: (signal: AbortSignal) => Promise<T>,
  gone?: AbortSignal,
  refuse = tooManyLarge,
): Promise<T> {
  const late = AbortSignal.timeout(WAIT_MAX_MS);
  try {
    return await take(gone ? AbortSignal.any([late, gone]) : late);
  } catch (error) {
    if (gone?.aborted) throw callerGone();
    if (!late.aborted) throw error;
    throw refuse();
  }
}

/** Refuses what has waited too long, or with too many others. */
export function tooManyLarge(): RetryLater {
  countRefusal('bytes');
  return new RetryLater(
    'RATE_LIMITED',
    `Too many large requests and answers are under way: try again in ${RETRY_AFTER_SECONDS} s.`,
  );
}
