// JWTs of the configured identity provider (spec: Authentication, "JWT").
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { ServiceError } from '../flow/errors.ts';
import type { UserPrincipal } from './principal.ts';
import { userIdSchema } from './user-id.ts';

/** Signatures only an asymmetric key makes: nobody who can check a token can issue one. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
/** `typ`, where a token has one (RFC 9068, 2.1): one that was signed for another purpose is no access token. */
const TYPE = /^(application\/)?(at\+)?jwt$/i;
const CLOCK_TOLERANCE_SECONDS = 10;
const FETCH_TIMEOUT_MS = 5_000;
/** How long a provider that did not answer, or did not have the key, is not asked again. */
const ASKED_AGAIN_MS = 2_000;
/** Three parts in base64url; decoders let more pass, such as padding. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export const IDENTITY_PROVIDER_UNAVAILABLE =
  'The identity provider does not answer, so that tokens cannot be checked: try again later. API keys work meanwhile.';

export type TokenVerifier = {
  /**
   * The user a token was issued to for one of `audiences`; undefined when it is not valid, whatever is wrong with it.
   * Throws IDENTITY_PROVIDER_UNAVAILABLE while the keys that would tell cannot be had.
   */
  verify(token: string, audiences: string[]): Promise<UserPrincipal | undefined>;
};

/** Finds the issuer's keys by its discovery document, when first needed, and keeps them. Without an issuer no token is valid. */
export function createTokenVerifier({ oidc }: Pick<Config, 'oidc'>): TokenVerifier {
  if (!oidc) return { verify: async () => undefined };
  const { issuer } = oidc;
  const getKey = discoveredKeys(issuer);
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

/** Picks a key by the header's `alg` and `kid` alone: `jku`, `jwk` and `x5u` are never looked at. */
function discoveredKeys(issuer: string): JWTVerifyGetKey {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  let renewing = false;
  const renew = () => {
    keys = undefined;
    renewing = false;
  };
  return async (header, token) => {
    try {
      keys ??= discover(issuer);
      return await (await keys)(header, token);
    } catch (error) {
      if (saysTheTokenIsWrong(error)) throw error;
      // Keys that cannot be used may be mended at any time, like those that cannot be had.
      if (!renewing) setTimeout(renew, ASKED_AGAIN_MS).unref();
      renewing = true;
      console.error(`The identity provider ${issuer} cannot be asked for its keys: ${describe(error)}`);
      throw new ServiceError('IDENTITY_PROVIDER_UNAVAILABLE', IDENTITY_PROVIDER_UNAVAILABLE);
    }
  };
}

function saysTheTokenIsWrong(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

const discoveryDocument = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const document = discoveryDocument.parse(await response.json());
  if (document.issuer !== issuer) throw new Error(`${url} is that of ${document.issuer}`);
  const jwksUrl = new URL(document.jwks_uri);
  if (issuer.startsWith('https:') && jwksUrl.protocol !== 'https:')
    throw new Error(`${url} names keys that are not served over https`);
  return createRemoteJWKSet(jwksUrl, {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: ASKED_AGAIN_MS,
  });
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
