import { z } from 'zod';

/** Of an OpenID Connect `sub`. */
const USER_ID_MAX_LENGTH = 255;

/** A user's id: the `sub` of its tokens. */
export const userIdSchema = z
  .string()
  .min(1)
  .max(USER_ID_MAX_LENGTH)
  // `.` and `..` are no segments of a URL's path, and so could never be removed.
  .regex(
    /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]*$/u,
    'is not a valid user id: it has control characters, or is . or ..',
  );
