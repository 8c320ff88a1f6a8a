// Fields of a query of usage, which the command line checks too.
import { z } from 'zod';
import { USAGE_DIMENSIONS } from '../../db/usage/usage-dimensions.ts';

/** The database has no year 0, and no usage is older than this day. */
const FIRST_DAY = '1970-01-01';

export const usageDay = z.iso
  .date('must be a day, such as 2026-01-31')
  .refine((text) => text >= FIRST_DAY, `must not be before ${FIRST_DAY}`);

export const usageDimension = z.enum(USAGE_DIMENSIONS);
