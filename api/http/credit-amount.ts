import { z } from 'zod';
import { CREDITS_MAX, isExact } from '../../flow/credit-amount.ts';

export const creditAmount = z
  .number()
  .positive('must be a number of credits over 0')
  .max(CREDITS_MAX)
  .refine(isExact, 'must have at most six decimal places');
