// maxCredits of a run: what its caller is ready to pay.
import { z } from 'zod';
import { MICROCREDITS_PER_CREDIT } from '../../db/credits/ledger.ts';

/** Far above any run, and exact in microcredits. */
const MAX_CREDITS_MAX = 1_000_000_000;

export const maxCredits = z
  .number()
  .positive('is a number of credits over 0')
  .max(MAX_CREDITS_MAX)
  .refine(isWholeMicrocredits, 'has at most six decimal places')
  .optional()
  .meta({
    description:
      'Credits this run may cost: a model call that could take it over this is not made, and the run ends as failed (`credits_exhausted`).',
  });

function isWholeMicrocredits(credits: number): boolean {
  return Math.round(credits * MICROCREDITS_PER_CREDIT) / MICROCREDITS_PER_CREDIT === credits;
}
