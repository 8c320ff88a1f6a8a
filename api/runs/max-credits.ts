// maxCredits: the most that a run may cost.
import { z } from 'zod';
import { MICROCREDITS_PER_CREDIT } from '../../db/credits/ledger.ts';

/** Far above the cost of any run, and exact in microcredits. */
const MAX_CREDITS_MAX = 1_000_000_000;

export const maxCredits = z
  .number()
  .positive('must be a number of credits over 0')
  .max(MAX_CREDITS_MAX)
  .refine(isWholeMicrocredits, 'must have at most six decimal places')
  .optional()
  .meta({
    description:
      'The most credits that this run may cost. A model call that could exceed it is not made, and the run fails (`credits_exhausted`).',
  });

function isWholeMicrocredits(credits: number): boolean {
  return Math.round(credits * MICROCREDITS_PER_CREDIT) / MICROCREDITS_PER_CREDIT === credits;
}
