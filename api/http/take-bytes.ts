import { type ByteBudget, SMALL_BYTES } from '../../fairness/byte-budget.ts';
import type { ApiState } from './context.ts';
import { RETRY_AFTER_SECONDS } from './errors.ts';
import { ownerOf } from './principal.ts';
import { RetryLater } from './retry-later.ts';

/** Bodies that one process has in hand, and the same again for answers: as JSON; parsed, they take several times as much. */
export const IN_HAND_BYTES = 128 * 1024 * 1024;
/** Of one organization, which may let its callers send and read slowly. */
export const SHARE_BYTES = IN_HAND_BYTES / 4;
/** Shorter than a request may take to arrive. */
const WAIT_MAX_MS = 15_000;

/**
 * Waits until the organization of a request (where it names none, its user) may have so many bytes in hand; answers the
 * function that gives them back. Throws RATE_LIMITED when its turn does not come.
 */
export async function takeBytes(
  budget: ByteBudget,
  ctx: { state: Partial<ApiState>; set(field: string, value: string): void },
  bytes: number,
): Promise<() => void> {
  if (bytes < SMALL_BYTES) return () => undefined;
  const { flow, principal } = ctx.state;
  const caller = principal && ownerOf(principal);
  const late = AbortSignal.timeout(WAIT_MAX_MS);
  try {
    return await budget.take(flow?.organizationId ?? caller ?? '', bytes, late);
  } catch (error) {
    if (!late.aborted) throw error;
    throw new RetryLater(
      'RATE_LIMITED',
      `Too many large requests and answers are under way: try again in ${RETRY_AFTER_SECONDS} s.`,
      RETRY_AFTER_SECONDS,
    );
  }
}
