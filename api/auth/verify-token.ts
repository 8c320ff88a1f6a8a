// Verifies JWTs of the configured identity provider (docs/identity-and-access.md).
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { Config } from '../../platform/config/config.ts';
import { log } from '../../platform/observability/log.ts';
import type { Profile, UserPrincipal } from '../http/principal.ts';
import { createIdentityProviderKeys } from './identity-provider.ts';
import { EMAIL_MAX_CHARS, userIdSchema } from './user-identifiers.ts';

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

const SAME_REASON_MS = 60_000;
const REASONS_MAX = 100;

const USER_MAX_CHARS = 80;

/** Asymmetric signatures only: a service that checks tokens must not be able to issue them. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
/** The `typ` of an access token, where present (RFC 9068, 2.1). Tokens for other purposes are refused. */
const TYPE = /^(application\/)?(at\+)?jwt$/i;
export const CLOCK_TOLERANCE_SECONDS = 10;
/** Three parts in strict base64url; decoders also accept padding, for example. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export type TokenVerifier = {
  /**
   * Finds the user whom a token was issued to for one of `audiences`; undefined when the token is not valid. Throws
   * IDENTITY_PROVIDER_UNAVAILABLE while the signing keys cannot be fetched.
   */
  verify(token: string, audiences: string[]): Promise<UserPrincipal | undefined>;
};

/** Creates a verifier. Without a configured issuer no token is valid. */
export function createTokenVerifier({ oidc }: Pick<Config, 'oidc'>): TokenVerifier {
  if (!oidc) return { verify: async () => undefined };
  const { issuer } = oidc;
  const getKey = createIdentityProviderKeys(issuer);
  const logRefusedToken = createRefusedTokenLog();
  return {
    async verify(token, audiences) {
      if (!COMPACT.test(token)) return undefined;
      try {
        const { payload, protectedHeader } = await jwtVerify(token, getKey, {
          issuer,
          audience: audiences,
          algorithms: ALGORITHMS,
          requiredClaims: ['sub', 'exp'],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
        });
        if (protectedHeader.typ !== undefined && !TYPE.test(protectedHeader.typ)) return undefined;
        return toPrincipal(payload, audiences);
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        logRefusedToken(error);
        return undefined;
      }
    },
  };
}

/** Providers put scopes into different claims (RFC 9068: `scope`) and forms. */
const scopeNames = z
  .union([
    z.array(z.string()),
    z.string().transform((names) => names.split(' ').filter((name) => name !== '')),
  ])
  .catch([]);
/** A client id (RFC 6749, 2.2): the claim `client_id` (RFC 9068) or, in OpenID Connect, `azp`. */
const clientId = z
  .string()
  .regex(/^[\x20-\x7e]{1,1000}$/)
  .optional()
  .catch(undefined);
/** Seconds since 1970, up to the year 9999. */
const numericDate = z.number().min(0).max(253_402_300_799).optional().catch(undefined);
const claims = z.object({
  sub: userIdSchema,
  exp: z.number(),
  iat: numericDate,
  consented_at: numericDate,
  client_id: clientId,
  azp: clientId,
  client_name: z
    .string()
    .transform((name) => name.slice(0, NAME_MAX_CHARS).toWellFormed().replaceAll('\0', '\u{fffd}'))
    .optional()
    .catch(undefined),
  scope: scopeNames,
  scp: scopeNames,
});

function toPrincipal(payload: JWTPayload, audiences: string[]): UserPrincipal | undefined {
  const parsed = claims.safeParse(payload);
  if (!parsed.success) return undefined;
  const { sub, exp, iat = 0, scope, scp, client_id, azp, client_name: name } = parsed.data;
  const issuedFor = [payload.aud].flat();
  return {
    kind: 'user',
    userId: sub,
    profile: readProfile(payload),
    scopes: [...scope, ...scp],
    audience: audiences.find((audience) => issuedFor.includes(audience)) as string,
    client: { id: client_id ?? azp ?? '', ...(name && { name }) },
    consentedAt: new Date((parsed.data.consented_at ?? iat) * 1000),
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(exp * 1000),
    environment: 'live',
  };
}

/**
 * Creates a function that logs why a token was refused: at most once a minute for each reason and user. The caller
 * does not learn the reason. The log names a user only when the signature was valid.
 */
export function createRefusedTokenLog(): (error: unknown) => void {
  const logged = new LRUCache<string, true>({ max: REASONS_MAX, ttl: SAME_REASON_MS });
  return function logRefusedToken(error) {
    const isSigned = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
    const user = isSigned ? String(error.payload.sub).slice(0, USER_MAX_CHARS) : undefined;
    const reason = error instanceof Error ? error.message : String(error);
    const same = JSON.stringify([user, reason]);
    if (logged.has(same)) return;
    logged.set(same, true);
    log.warn({ ...(user !== undefined && { user_id: user }), reason }, 'A token was refused.');
  };
}

/** Reads the standard OpenID Connect claims about a person. Missing or malformed claims are null. */
function readProfile(payload: object): Profile {
  const { name, email, email_verified } = profileClaims.parse(payload);
  return { name, email, emailVerified: email !== null && email_verified };
}
