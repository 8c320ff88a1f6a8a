import type { DeliveryToAttempt } from '../db/webhooks/delivery-attempts.ts';
import { type DeliveryCall, type DeliveryStatus, OPEN_STATUSES } from '../flow/delivery.ts';

/** Less than this before it is due, an attempt is made. */
const EARLY_MS = 1_000;

/** How many attempts of the round were made, and in how many milliseconds the next one is due. */
export type Forgotten = { made: number; dueInMs: number };

/**
 * Finds the attempts that an engine which was set back has forgotten: attempt `number` was made, or the one before it, after which
 * the next is not due yet. Returns undefined where `number` is the next. A repeated attempt is not held against the clock: an
 * operator may have asked for it.
 */
export function findForgottenAttempts(
  { round, status, attempt, due_in_ms: dueInMs }: DeliveryToAttempt,
  call: DeliveryCall,
  number: number,
): Forgotten | undefined {
  if (round !== call.round || !isOpen(status)) return undefined;
  if (attempt >= number) return { made: attempt, dueInMs };
  const isFirst = number === call.made + 1;
  return isFirst && dueInMs > EARLY_MS ? { made: number - 1, dueInMs } : undefined;
}

function isOpen(status: DeliveryStatus): boolean {
  return (OPEN_STATUSES as readonly DeliveryStatus[]).includes(status);
}
