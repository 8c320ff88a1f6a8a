// The identity provider's discovery document and signing keys: fetched on first use, and cached, also while the
// provider is down.
import {
  createLocalJWKSet,
  errors,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { fetchJson } from '../../platform/net/read-answer-start.ts';
import { log } from '../../platform/observability/log.ts';

const DOCUMENT_MAX_BYTES = 1024 * 1024;
const url = z.url({ protocol: /^https?$/ });

const endpoint = url.optional().catch(undefined);

const discoveryDocument = z.object({
  issuer: z.string(),
  jwks_uri: url,
  token_endpoint: endpoint,
  revocation_endpoint: endpoint,
});

/** For the discovery document and the keys together. */
const FETCH_TIMEOUT_MS = 4_000;
/** Minimum time between two requests to the provider. */
const ASKED_AGAIN_MS = 2_000;
/** Keys older than this are fetched again in the background. */
const FRESH_MS = 10 * 60_000;
/** Keys are forgotten after this: a provider that is away for longer may have withdrawn one meanwhile. */
export const KEPT_MS = 24 * 60 * 60_000;

export const IDENTITY_PROVIDER_UNAVAILABLE =
  'The identity provider does not answer, so this token cannot be checked: try again later. API keys still work.';

type Keys = { find: ReturnType<typeof createLocalJWKSet>; fetchedAt: number };

/**
 * Creates the function that selects a token's key by the header's `alg` and `kid`; it ignores `jku`, `jwk` and `x5u`.
 * An unknown key triggers a fetch. When the fetch fails, only this token gets IDENTITY_PROVIDER_UNAVAILABLE.
 */
export function createIdentityProviderKeys(issuer: string): JWTVerifyGetKey {
  let keys: Keys | undefined;
  let fetching: Promise<boolean> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let answered = false;

  /** Fetches the keys, unless they were fetched a moment ago. Returns whether they are up to date. */
  function refresh(): Promise<boolean> {
    if (fetching) return fetching;
    if (performance.now() - askedAt < ASKED_AGAIN_MS) return Promise.resolve(answered);
    fetching = fetchKeys(issuer)
      .then(
        (jwks) => {
          keys = { find: createLocalJWKSet(jwks), fetchedAt: performance.now() };
          return true;
        },
        (error: unknown) => {
          log.warn(
            { issuer, reason: describe(error) },
            'The keys of the identity provider cannot be fetched.',
          );
          return false;
        },
      )
      .then((succeeded) => {
        fetching = undefined;
        askedAt = performance.now();
        answered = succeeded;
        return succeeded;
      });
    return fetching;
  }

  return async (header, token) => {
    const age = keys ? performance.now() - keys.fetchedAt : Number.POSITIVE_INFINITY;
    if (age > KEPT_MS) keys = undefined;
    else if (age > FRESH_MS) void refresh();
    try {
      if (keys) return await keys.find(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) throw error;
    }
    if (!(await refresh()) || !keys)
      throw new ServiceError('IDENTITY_PROVIDER_UNAVAILABLE', IDENTITY_PROVIDER_UNAVAILABLE);
    return keys.find(header, token);
  };
}

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** Fetches the keys of an issuer. Throws unless its discovery document is valid and one of its keys is usable. */
export async function fetchKeys(issuer: string): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const document = await readDiscovery(issuer, signal);
  const jwks = keySet.parse(await fetchFromProvider(document.jwks_uri, signal)) as JSONWebKeySet;
  const usable = await Promise.all(jwks.keys.map(isUsable));
  if (!usable.includes(true)) throw new Error(`${document.jwks_uri} has no usable key`);
  return jwks;
}

function isUsable(key: JWK): Promise<boolean> {
  const algorithms: { [type: string]: string } = { RSA: 'RS256', EC: 'ES256', OKP: 'EdDSA' };
  const algorithm = key.alg ?? algorithms[key.kty ?? ''];
  return importJWK(key, algorithm).then(
    () => true,
    () => false,
  );
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/**
 * Fetches the discovery document (OpenID Connect Discovery 1.0, section 4). Throws when it is unavailable or names
 * another issuer.
 */
export async function readDiscovery(issuer: string, signal: AbortSignal) {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = discoveryDocument.parse(await fetchFromProvider(address, signal));
  if (document.issuer !== issuer) throw new Error(`${address} belongs to ${document.issuer}`);
  if (issuer.startsWith('https:') && !document.jwks_uri.startsWith('https:'))
    throw new Error(`${address} refers to keys that are not served over https`);
  return document;
}

/** Fetches JSON from the identity provider, without following redirects. Throws unless the status is a success. */
function fetchFromProvider(address: string, signal: AbortSignal): Promise<unknown> {
  return fetchJson(address, { maxBytes: DOCUMENT_MAX_BYTES, signal, redirect: 'error' });
}
