import { z } from 'zod';
import type { Profile } from '../http/principal.ts';
import { EMAIL_MAX_CHARS } from './email-address.ts';

export const NAME_MAX_CHARS = 200;

/** No control characters and no lone surrogates, which PostgreSQL refuses and terminals cannot show. */
const line = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u);

const profileClaims = z.object({
  name: line(NAME_MAX_CHARS).nullable().catch(null),
  email: line(EMAIL_MAX_CHARS).nullable().catch(null),
  // Some providers write booleans as text.
  email_verified: z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })]).catch(false),
});

/** Reads the standard OpenID Connect claims about a person. Missing or malformed claims are null. */
export function readProfile(payload: object): Profile {
  const { name, email, email_verified } = profileClaims.parse(payload);
  return { name, email, emailVerified: email !== null && email_verified };
}
