import { fetchFromProvider, readDiscovery } from '../../api/auth/read-discovery.ts';
import type { Config } from '../../platform/config/config.ts';
import { checkClock } from './check-clock.ts';
import { describe, failure, ok, type Result, warning } from './finding.ts';

/** Looks whether users' tokens can be checked: by the issuer's discovery document and its keys. */
export async function checkIdentity({ oidc }: Pick<Config, 'oidc'>, signal: AbortSignal): Promise<Result[]> {
  if (!oidc)
    return [
      warning(
        'No identity provider is configured: only API keys are accepted.',
        'Set WEIR_OIDC_ISSUER, unless no user is to sign in.',
      ),
    ];
  const { issuer, audience, mcpAudience } = oidc;
  try {
    const { jwks_uri } = await readDiscovery(issuer, signal);
    const keys = (await fetchFromProvider(jwks_uri, signal)) as { keys?: unknown[] };
    if (!keys?.keys?.length)
      return [
        failure(
          `${jwks_uri} has no keys.`,
          'Have the provider publish its signing keys: no token can be checked.',
        ),
      ];
    return [
      ok(
        `${issuer} answers, with ${keys.keys.length} ${keys.keys.length === 1 ? 'key' : 'keys'}. Tokens are for ${audience} or, over MCP, ${mcpAudience}.`,
      ),
      ...(await compareClocks(issuer, signal)),
    ];
  } catch (error) {
    return [
      failure(
        `The identity provider ${issuer} cannot be used: ${describe(error)}.`,
        'Start it, or set WEIR_OIDC_ISSUER to the issuer exactly as its discovery document has it.',
      ),
    ];
  }
}

/** Reads the provider's clock from the Date of an answer, which is exact to a second. */
async function compareClocks(issuer: string, signal: AbortSignal): Promise<Result[]> {
  const begun = performance.now();
  const { headers, body } = await fetch(issuer, { method: 'HEAD', redirect: 'manual', signal });
  await body?.cancel();
  const date = new Date(headers.get('date') ?? Number.NaN);
  return Number.isNaN(date.getTime())
    ? []
    : checkClock('the identity provider', date, performance.now() - begun + 1_000);
}
