// JWTs of the configured identity provider (spec: Authentication, "JWT").
import { type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { UserPrincipal } from '../http/principal.ts';
import { createIdentityProviderKeys } from './identity-provider-keys.ts';
import { userIdSchema } from './user-id.ts';

/** Signatures only an asymmetric key makes: nobody who can check a token can issue one. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
/** `typ`, where a token has one (RFC 9068, 2.1): one that was signed for another purpose is no access token. */
const TYPE = /^(application\/)?(at\+)?jwt$/i;
const CLOCK_TOLERANCE_SECONDS = 10;
/** Three parts in base64url; decoders let more pass, such as padding. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export type TokenVerifier = {
  /**
   * The user a token was issued to for one of `audiences`; undefined when it is not valid, whatever is wrong with it.
   * Throws IDENTITY_PROVIDER_UNAVAILABLE while the keys that would tell cannot be had.
   */
  verify(token: string, audiences: string[]): Promise<UserPrincipal | undefined>;
};

/** Without an issuer no token is valid. */
export function createTokenVerifier({ oidc }: Pick<Config, 'oidc'>): TokenVerifier {
  if (!oidc) return { verify: async () => undefined };
  const { issuer } = oidc;
  const getKey = createIdentityProviderKeys(issuer);
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
        return undefined;
      }
    },
  };
}

/** Providers differ in where they name scopes (RFC 9068: `scope`) and how. */
const scopeNames = z
  .union([
    z.array(z.string()),
    z.string().transform((names) => names.split(' ').filter((name) => name !== '')),
  ])
  .catch([]);
const claims = z.object({
  sub: userIdSchema,
  exp: z.number(),
  email: z.string().optional().catch(undefined),
  scope: scopeNames,
  scp: scopeNames,
});

function toPrincipal(payload: JWTPayload, audiences: string[]): UserPrincipal | undefined {
  const parsed = claims.safeParse(payload);
  if (!parsed.success) return undefined;
  const { sub, exp, email, scope, scp } = parsed.data;
  const issuedFor = [payload.aud].flat();
  return {
    kind: 'user',
    userId: sub,
    ...(email !== undefined && { email }),
    scopes: [...scope, ...scp],
    audience: audiences.find((audience) => issuedFor.includes(audience)) as string,
    expiresAt: new Date(exp * 1000),
    environment: 'live',
  };
}
