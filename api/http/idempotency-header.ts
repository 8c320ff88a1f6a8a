// The header Idempotency-Key.
import { z } from 'zod';
import { IDEMPOTENCY_KEY_HOURS } from '../../flow/limits.ts';

export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

export const idempotencyKey = z
  .string()
  .min(1)
  .max(IDEMPOTENCY_KEY_MAX_LENGTH)
  .regex(/^[!-~]*$/, 'must be visible ASCII characters, without spaces')
  .optional();

export const idempotencyHeaders = z.object({
  'Idempotency-Key': idempotencyKey.meta({
    description: `Send a new value with each new request, and the same value when you repeat one. Within ${IDEMPOTENCY_KEY_HOURS} hours, the repeated request gets the answer of the first, with Idempotent-Replayed: true, and nothing is done twice. A POST that creates nothing refuses the header.`,
  }),
});
