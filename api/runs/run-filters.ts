// Filters of run lists, which the command line checks too.
import { z } from 'zod';
import { idRange } from '../../db/runs/id-range.ts';
import { toMicrocredits } from '../../flow/credit-amount.ts';
import { KEY_ID_PATTERN } from '../auth/api-key.ts';

/** Fewer characters match too many ids. */
const ID_MIN_CHARS = 6;
const SEARCH_MIN_CHARS = 3;
const SEARCH_MAX_CHARS = 200;

export const keyFilter = z
  .string()
  .regex(KEY_ID_PATTERN, 'must be the key_id of an API key')
  .optional()
  .meta({ description: 'Only runs that the API key with this key_id started.' });

export const minCostFilter = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be a number of credits, with at most six decimal places')
  .transform((credits) => toMicrocredits(Number(credits)))
  .optional()
  .meta({
    description:
      'Only runs that have cost at least so many credits. A page then looks at 500 runs at most: it may hold fewer than `limit`, or none, while `hasMore` is true.',
    override({ jsonSchema }) {
      delete jsonSchema.pattern;
      Object.assign(jsonSchema, { type: 'number', minimum: 0, maximum: 999_999_999 });
    },
  });

export const idFilter = z
  .string()
  .min(ID_MIN_CHARS)
  .max(36)
  .refine((text) => idRange(text) !== undefined, 'must be the beginning of an executionId')
  .optional()
  .meta({ description: 'Only runs whose executionId starts with this text.' });

/** Failed runs of a flow that failed alike. */
export const errorGroupFilter = z
  .string()
  .regex(/^[0-9a-f]{12}$/, 'must be an error_group of …/runs/errors')
  .optional()
  .meta({ description: 'Only failed runs of this group of `…/runs/errors`.' });

export const searchFilter = z
  .string()
  .trim()
  .min(SEARCH_MIN_CHARS)
  .max(SEARCH_MAX_CHARS)
  // PostgreSQL rejects U+0000 in texts.
  .regex(/^[^\0]*$/, 'must not hold U+0000')
  .optional()
  .meta({
    description:
      'Only runs with this text in their message or error, in any case; 8 or more characters that are a part of an executionId find this run. A page looks at 2,000 runs at most, and at messages of up to 16 KiB: it may hold fewer than `limit`, or none, while `hasMore` is true.',
  });
