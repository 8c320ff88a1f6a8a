import { z } from 'zod';

/** Of an OpenID Connect `sub`. */
const USER_ID_MAX_LENGTH = 255;

/** A user's id: the `sub` of its tokens. */
export const userIdSchema = z
  .string()
  .min(1)
  .max(USER_ID_MAX_LENGTH)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'has characters that no user id has');
