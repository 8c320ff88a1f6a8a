import { z } from 'zod';

const KEY_MAX_LENGTH = 500;

/** A key as providers issue it: visible ASCII, which fits into a header. */
export const modelKeySchema = z
  .string()
  .min(1)
  .max(KEY_MAX_LENGTH)
  .regex(/^[!-+\--~]*$/, 'must be visible ASCII characters, without spaces and commas');
