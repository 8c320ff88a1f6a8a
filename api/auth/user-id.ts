import { z } from 'zod';

/** The limit of OpenID Connect for a `sub`. */
const USER_ID_MAX_LENGTH = 255;

/** A user's id: the `sub` of their tokens. */
export const userIdSchema = z
  .string()
  .min(1)
  .max(USER_ID_MAX_LENGTH)
  // `.` and `..` cannot be segments of a URL's path, so that such a member could never be removed.
  .regex(
    /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]*$/u,
    'is not a valid user id: it has control characters, or is . or ..',
  )
  // The same for validators that know no Unicode properties; no JSON text has lone surrogates to refuse.
  .meta({ override: { pattern: '^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f]*$' } });
