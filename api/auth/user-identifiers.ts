import { z } from 'zod';
import type { Profile } from '../http/principal.ts';

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
    /^(?!(?:\.{1,2}|operator|service)$|(?:api_key|operator)\/)[^\p{Cc}\p{Cs}]*$/u,
    'is not a valid user id: it has control characters, is ., .., operator or service, or begins with api_key/ or operator/',
  )
  // The same for validators without Unicode properties. JSON text has no lone surrogates.
  .meta({
    override: {
      pattern: '^(?!(?:\\.{1,2}|operator|service)$|(?:api_key|operator)/)[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    },
  });

/** The longest address that mail can be sent to (RFC 5321, 4.5.3.1.3). */
export const EMAIL_MAX_CHARS = 254;

/**
 * An e-mail address in lower case. Only ASCII: look-alike letters, or letters that become ASCII in lower case (the
 * Kelvin sign), could make one address of two.
 */
export const emailAddress = z
  .string()
  .max(EMAIL_MAX_CHARS)
  .regex(z.regexes.html5Email, 'must be an e-mail address in ASCII (a domain with other letters as xn--…)')
  .transform((text) => text.toLowerCase());

/** Returns the address that the identity provider has verified, in lower case; undefined when there is none. */
export function verifiedAddress({ email, emailVerified }: Profile): string | undefined {
  return emailVerified ? emailAddress.safeParse(email).data : undefined;
}
