// The identity provider of the service, from its discovery document, and the tokens that it issues.
import * as oauth from 'oauth4webapi';
import { loadSettings, RESPONSE_TIMEOUT_MS, type Settings } from './settings.ts';
import { SignInError } from './sign-in-error.ts';

/** The assumed lifetime when the provider does not state one. */
const LIFETIME_SECONDS = 300;

/** The tokens of a user, `sub`. They are only kept in memory. */
export type Tokens = {
  sub: string | undefined;
  access: string;
  refresh: string | undefined;
  id: string | undefined;
  expiresAt: number;
};

/** The provider, and the parameters of every request to it. */
type Provider = {
  server: oauth.AuthorizationServer;
  client: oauth.Client;
  options: { [oauth.allowInsecureRequests]: boolean; signal: () => AbortSignal };
  scope: string;
  /** The audience of the token: `resource` of RFC 8707, and `audience` for older providers. */
  wanted: Record<string, string>;
};

let found: Promise<Provider> | undefined;

/** Discovers the provider, once. Throws SignInError. */
export async function getProvider(): Promise<Provider> {
  found ??= discover(await loadSettings());
  found.catch(() => {
    found = undefined;
  });
  return found;
}

async function discover({ issuer, clientId, scopes, audience }: Settings): Promise<Provider> {
  if (!issuer || !clientId)
    throw new SignInError(
      'Nobody can sign in to the console of this service yet. Ask its operator to set WEIR_OIDC_ISSUER and WEIR_CONSOLE_CLIENT_ID.',
    );
  if (!isSecureContext)
    throw new SignInError(
      `Browsers sign in on safe pages only: open the console over https, or on the machine itself at http://127.0.0.1${location.port && `:${location.port}`}/console/.`,
    );
  const url = new URL(issuer);
  // Plain http is for a provider in development; the service refuses it in production.
  const options = {
    [oauth.allowInsecureRequests]: url.protocol === 'http:',
    signal: () => AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  };
  const wanted = audience ? { audience, ...(URL.canParse(audience) && { resource: audience }) } : {};
  try {
    const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
    return { server, client: { client_id: clientId }, options, scope: scopes, wanted };
  } catch {
    throw new SignInError(`The identity provider at ${issuer} cannot be reached. Try again in a moment.`);
  }
}

/** Reads the tokens from a response; missing ones are taken from `before`. */
export function toTokens(answer: oauth.TokenEndpointResponse, before?: Tokens): Tokens {
  return {
    sub: oauth.getValidatedIdTokenClaims(answer)?.sub ?? before?.sub,
    access: answer.access_token,
    refresh: answer.refresh_token ?? before?.refresh,
    id: answer.id_token ?? before?.id,
    expiresAt: Date.now() + (answer.expires_in ?? LIFETIME_SECONDS) * 1_000,
  };
}
