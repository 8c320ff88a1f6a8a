// An amount of credits in a request.
import { z } from 'zod';
import { MICROCREDITS_PER_CREDIT } from '../../db/credits/ledger.ts';

/** Far above the cost of any run, and exact in microcredits. */
const CREDITS_MAX = 1_000_000_000;

export const creditAmount = z
  .number()
  .positive('must be a number of credits over 0')
  .max(CREDITS_MAX)
  .refine(
    (credits) => toMicrocredits(credits) / MICROCREDITS_PER_CREDIT === credits,
    'must have at most six decimal places',
  );

/** Returns the same amount in microcredits. */
export function toMicrocredits(credits: number): number {
  return Math.round(credits * MICROCREDITS_PER_CREDIT);
}
