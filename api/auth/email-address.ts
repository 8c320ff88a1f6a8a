import { z } from 'zod';
import type { Profile } from '../http/principal.ts';

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
