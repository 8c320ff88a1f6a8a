import { readDiscovery } from '../auth/read-discovery.ts';

const FETCH_TIMEOUT_MS = 3_000;
/** Time before the provider is asked again; shorter while it does not answer. */
const KEPT_MS = 10 * 60_000;
const ASKED_AGAIN_MS = 5_000;

/**
 * Creates the function that lists the origins for the page's `connect-src`: the issuer's own, and the origins of the
 * endpoints in its discovery document.
 */
export function createSignInOrigins(issuer: string | undefined): () => Promise<string[]> {
  if (issuer === undefined) return async () => [];
  const own = new URL(issuer).origin;
  let known = [own];
  let asking: Promise<string[]> | undefined;
  let askAfter = Number.NEGATIVE_INFINITY;

  async function ask(issuer: string): Promise<string[]> {
    try {
      known = [...new Set([own, ...(await readEndpoints(issuer))])];
      askAfter = performance.now() + KEPT_MS;
    } catch {
      // The page works without: most providers have the token endpoint at the issuer's origin.
      askAfter = performance.now() + ASKED_AGAIN_MS;
    }
    asking = undefined;
    return known;
  }

  return async () => {
    if (performance.now() < askAfter) return known;
    asking ??= ask(issuer);
    return asking;
  };
}

/** Endpoints that the page calls with fetch. Browsers navigate to the others. */
async function readEndpoints(issuer: string): Promise<string[]> {
  const document = await readDiscovery(issuer, AbortSignal.timeout(FETCH_TIMEOUT_MS));
  const endpoints = [document.token_endpoint, document.revocation_endpoint];
  return endpoints.flatMap((one) => (one === undefined ? [] : [new URL(one).origin]));
}
