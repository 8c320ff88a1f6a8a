// Request and response schemas of credits.
import { z } from 'zod';
import { CREDITS_MAX, isExact } from '../../flow/credit-amount.ts';
import { moment } from '../http/moment.ts';
import { pageLimit, pageOf } from '../http/page.ts';
import { tokens } from '../runs/run-shapes/block-answers.ts';

export const creditAmount = z
  .number()
  .positive('must be a number of credits over 0')
  .max(CREDITS_MAX)
  .refine(isExact, 'must have at most six decimal places');

const GRANT_KEY_MAX_CHARS = 255;

export const creditAccount = z
  .object({
    organizationId: z.uuid(),
    balance: z.number().min(0),
    reserved: z.number().min(0).meta({
      description: 'The part of the balance that is set aside for model calls under way.',
    }),
    lowBalanceMark: z.number().nullable().meta({ description: 'null: the balance is never called low.' }),
    low: z.boolean().meta({ description: 'Whether the balance is below the mark.' }),
  })
  .meta({ id: 'Credits' });

export const updateCreditsRequest = z
  .strictObject({
    low_balance_mark: creditAmount.nullable().meta({ description: 'null removes the mark.' }),
  })
  .meta({ id: 'UpdateCredits' });

export const grantRequest = z.strictObject({ credits: creditAmount }).meta({ id: 'GrantCredits' });
export const grantHeaders = z.object({
  'Idempotency-Key': z
    .string('is required: a grant whose answer was lost is sent again with it')
    .min(1)
    .max(GRANT_KEY_MAX_CHARS)
    .regex(/^[!-~]*$/, 'must be visible ASCII characters, without spaces')
    .meta({
      description:
        'Names this grant in the ledger for ever: a second request with it grants nothing and gets the answer of the first.',
    }),
});
export const grantRecord = z
  .object({
    organizationId: z.uuid(),
    credits: z.number(),
    key: z.string().meta({ description: 'The Idempotency-Key.' }),
    balance: z.number().min(0).meta({ description: 'The balance after this grant.' }),
  })
  .meta({ id: 'Grant' });

export const ledgerEntry = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    kind: z.enum(['grant', 'charge']),
    credits: z.number().meta({ description: 'The change of the balance: negative for a charge.' }),
    executionId: z.uuid().nullable().meta({ description: 'The run that was charged; null for a grant.' }),
    block: z.string().nullable().meta({
      description: 'The block execution that was charged, as `key` of a receipt; null for a grant.',
    }),
    key: z.string().nullable().meta({
      description:
        'The key of a grant: that of its request, `start` for the credits of a new organization. null for a charge.',
    }),
    model: z.string().nullable().meta({
      description: 'The model that was charged; null otherwise, and after retention has deleted the run.',
    }),
    tokens: z.object(tokens).nullable().meta({ description: 'null where `model` is.' }),
  })
  .meta({ id: 'LedgerEntry' });
export const ledgerPage = pageOf('Ledger', 'entries', ledgerEntry);

export const ledgerQuery = z.strictObject({
  limit: pageLimit.meta({
    description: 'How many entries a page has at most.',
  }),
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'must be nextCursor of the previous page')
    .optional()
    .meta({ description: '`nextCursor` of the previous page.' }),
  kind: z.enum(['grant', 'charge']).optional().meta({ description: 'Only grants, or only charges.' }),
  execution_id: z
    .uuid()
    .optional()
    .meta({ description: 'Only charges of this run; none after retention has deleted the run.' }),
  since: moment.optional().meta({ description: 'Only entries made at this time or later.' }),
  before: moment.optional().meta({ description: 'Only entries made before this time.' }),
});
