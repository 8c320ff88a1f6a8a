import { z } from 'zod';

/** The limit of OpenID Connect for a `sub`. */
export const USER_ID_MAX_LENGTH = 255;

/** A user's id: the `sub` of their tokens. */
export const userIdSchema = z
  .string()
  .min(1)
  .max(USER_ID_MAX_LENGTH)
  // `.` and `..` cannot be URL path segments, so such a member could never be removed. The audit log uses the other
  // names for actors who are not users.
  .regex(
    /^(?!(?:\.{1,2}|operator|service)$|api_key\/)[^\p{Cc}\p{Cs}]*$/u,
    'is not a valid user id: it has control characters, is ., .., operator or service, or begins with api_key/',
  )
  // The same for validators without Unicode properties. JSON text has no lone surrogates.
  .meta({
    override: { pattern: '^(?!(?:\\.{1,2}|operator|service)$|api_key/)[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
  });
