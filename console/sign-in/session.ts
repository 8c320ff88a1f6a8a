// The user's session: an authorization code with PKCE at the configured identity provider. Tokens are held in memory only,
// so a page that is loaded again asks the provider again, which answers at once while its own session lasts.
import * as oauth from 'oauth4webapi';
import { loadSettings, type Settings } from './settings.ts';

const CALLBACK = '/console/signed-in';
const SIGNED_OUT = '/console/signed-out';
/** A token is renewed this long before it expires. */
const RENEW_BEFORE_MS = 60_000;
/** Only of a sign-in that has begun: what the provider's answer is checked against, and where to go afterwards. */
const PENDING = 'weir.sign-in';

type Pending = { state: string; verifier: string; nonce: string; returnTo: string };
type Tokens = { access: string; refresh: string | undefined; id: string | undefined; expiresAt: number };

let tokens: Tokens | undefined;
let renewal: Promise<string | undefined> | undefined;

/** The sign-in did not succeed; the message is for the user. */
export class SignInError extends Error {}

/**
 * Begins or completes the sign-in when the page loads. Resolves with the path to show once there is a session; when the
 * provider has to be asked the browser leaves the page, and the promise stays open. Throws SignInError.
 */
export async function openSession(): Promise<string> {
  const { pathname, search, hash } = location;
  if (pathname === CALLBACK) return completeSignIn(new URL(location.href));
  const oneTime = /^#one-time=([\w-]+)$/.exec(hash)?.[1];
  const returnTo = oneTime === undefined ? pathname + search + hash : '/console/';
  return signIn(returnTo, oneTime);
}

/** Answers the user's access token, renewed when it is about to expire. */
export async function currentToken(): Promise<string> {
  if (tokens && tokens.expiresAt - Date.now() > RENEW_BEFORE_MS) return tokens.access;
  return (await renewToken()) ?? tokens?.access ?? signInAgain();
}

/** Renews the token with the refresh token; undefined when the provider gave none or refuses it. */
export function renewToken(): Promise<string | undefined> {
  renewal ??= refresh().finally(() => {
    renewal = undefined;
  });
  return renewal;
}

/** Leaves the page for the provider, and comes back to where it was. */
export function signInAgain(): Promise<never> {
  return signIn(location.pathname + location.search);
}

/** Ends the session here and at the provider. */
export async function signOut(): Promise<void> {
  const settings = await loadSettings();
  const server = await discover(settings);
  const hint = tokens?.id;
  if (tokens?.refresh && server.revocation_endpoint)
    await oauth
      .revocationRequest(server, client(settings), oauth.None(), tokens.refresh, options(settings))
      .catch(() => undefined);
  tokens = undefined;
  if (!server.end_session_endpoint) return location.assign(SIGNED_OUT);
  const url = new URL(server.end_session_endpoint);
  url.searchParams.set('client_id', settings.clientId ?? '');
  url.searchParams.set('post_logout_redirect_uri', location.origin + SIGNED_OUT);
  if (hint) url.searchParams.set('id_token_hint', hint);
  location.assign(url);
}

async function signIn(returnTo: string, oneTime?: string): Promise<never> {
  const settings = await loadSettings();
  const server = await discover(settings);
  if (!server.authorization_endpoint) throw new SignInError('The identity provider offers no sign-in page.');
  const pending: Pending = {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    nonce: oauth.generateRandomNonce(),
    returnTo,
  };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    client_id: settings.clientId ?? '',
    redirect_uri: location.origin + CALLBACK,
    response_type: 'code',
    scope: settings.scopes,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    ...wanted(settings),
    ...(oneTime !== undefined && { weir_one_time: oneTime }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  location.replace(url);
  return new Promise(() => undefined);
}

async function completeSignIn(url: URL): Promise<string> {
  const pending = JSON.parse(sessionStorage.getItem(PENDING) ?? 'null') as Pending | null;
  sessionStorage.removeItem(PENDING);
  // A page that was opened or reloaded at this address by itself begins anew.
  if (!pending) return signIn('/console/');
  const settings = await loadSettings();
  const server = await discover(settings);
  try {
    const parameters = oauth.validateAuthResponse(server, client(settings), url, pending.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client(settings),
      oauth.None(),
      parameters,
      location.origin + CALLBACK,
      pending.verifier,
      { ...options(settings), additionalParameters: wanted(settings) },
    );
    take(
      await oauth.processAuthorizationCodeResponse(server, client(settings), response, {
        expectedNonce: pending.nonce,
      }),
    );
  } catch (error) {
    throw new SignInError(explain(error));
  }
  history.replaceState(null, '', pending.returnTo);
  return pending.returnTo;
}

async function refresh(): Promise<string | undefined> {
  const held = tokens?.refresh;
  if (held === undefined) return undefined;
  const settings = await loadSettings();
  const server = await discover(settings);
  try {
    const response = await oauth.refreshTokenGrantRequest(server, client(settings), oauth.None(), held, {
      ...options(settings),
      additionalParameters: wanted(settings),
    });
    return take(await oauth.processRefreshTokenResponse(server, client(settings), response), held);
  } catch {
    return undefined;
  }
}

function take(answer: oauth.TokenEndpointResponse, refreshToken?: string): string {
  tokens = {
    access: answer.access_token,
    refresh: answer.refresh_token ?? refreshToken,
    id: answer.id_token ?? tokens?.id,
    expiresAt: Date.now() + (answer.expires_in ?? 300) * 1000,
  };
  return tokens.access;
}

let discovered: Promise<oauth.AuthorizationServer> | undefined;

async function discover(settings: Settings): Promise<oauth.AuthorizationServer> {
  if (!settings.issuer || !settings.clientId)
    throw new SignInError(
      'This service has no sign-in for the console: its operator sets WEIR_OIDC_ISSUER and WEIR_CONSOLE_CLIENT_ID.',
    );
  const issuer = new URL(settings.issuer);
  discovered ??= oauth
    .discoveryRequest(issuer, options(settings))
    .then((response) => oauth.processDiscoveryResponse(issuer, response));
  try {
    return await discovered;
  } catch {
    discovered = undefined;
    throw new SignInError(
      `The identity provider at ${settings.issuer} cannot be reached. Try again in a moment.`,
    );
  }
}

function client(settings: Settings): oauth.Client {
  return { client_id: settings.clientId ?? '' };
}

/** Plain http is for an identity provider on this machine. */
function options(settings: Settings): { [oauth.allowInsecureRequests]: boolean } {
  return { [oauth.allowInsecureRequests]: settings.issuer?.startsWith('http://127.0.0.1') ?? false };
}

/** Names the service for which a token is wanted, in the words of RFC 8707 and in those of providers before it. */
function wanted({ audience }: Settings): Record<string, string> {
  if (!audience) return {};
  return { audience, ...(URL.canParse(audience) && { resource: audience }) };
}

function explain(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError)
    return error.error === 'access_denied'
      ? 'The sign-in was refused.'
      : (error.error_description ?? `The identity provider refused the sign-in: ${error.error}.`);
  return 'The sign-in could not be completed: the answer of the identity provider was not the one expected. Try again.';
}
