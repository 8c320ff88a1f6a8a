import { z } from 'zod';
import { fetchJson } from '../../platform/net/fetch-json.ts';

const DOCUMENT_MAX_BYTES = 1024 * 1024;

const url = z.url({ protocol: /^https?$/ });
const endpoint = url.optional().catch(undefined);
const discoveryDocument = z.object({
  issuer: z.string(),
  jwks_uri: url,
  token_endpoint: endpoint,
  revocation_endpoint: endpoint,
});

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
export function fetchFromProvider(address: string, signal: AbortSignal): Promise<unknown> {
  return fetchJson(address, { maxBytes: DOCUMENT_MAX_BYTES, signal, redirect: 'error' });
}
