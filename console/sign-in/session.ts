// The user's session. Tokens are only kept in memory: a reloaded page asks the identity provider again, which answers
// at once while its own session lasts.
import * as oauth from 'oauth4webapi';
import { beginSignIn, CALLBACK, completeSignIn } from './code-grant.ts';
import { getProvider, type Tokens, toTokens } from './provider.ts';
import { isBusy, SignInError } from './sign-in-error.ts';

/** The path of the sign-in window; its fragment names the channel to the page that opened it. */
const WINDOW = '/console/sign-in-window';

/** A prefix of its own, because any website can open the window with any fragment. */
const CHANNEL = 'weir.sign-in.';

const SIGNED_OUT = '/console/signed-out';
/** How long before its expiry a token is renewed. */
const RENEW_BEFORE_MS = 60_000;
/** The channel between tabs. */
const TABS = new BroadcastChannel('weir.session');
const SIGN_OUT = 'signed out';
const LEAVING_MAX_MS = 1_000;

let tokens: Tokens | undefined;
/** The user for whom the page was loaded. */
let user: string | undefined;
let renewal: Promise<string> | undefined;
/** The access token that the service accepted last. */
let accepted: string | undefined;
/** Asks the user to sign in again; set by the dialog. */
let askUser: (() => Promise<Tokens>) | undefined;
/**
 * Set while the page is about to be left, after signing out or because another user signed in. Requests wait for it.
 * Resolved when the user decides to stay on the page.
 */
let leaving: Promise<void> | undefined;
let stayOnPage = () => {};

TABS.onmessage = ({ data }) => {
  if (data === SIGN_OUT && tokens) goToSignedOut();
};
window.addEventListener('beforeunload', (event) => {
  // Runs after the browser's question to the user. If the answer was to leave, the page is gone by then.
  setTimeout(() => {
    if (event.defaultPrevented) stayOnPage();
  }, LEAVING_MAX_MS);
});
// The browser has restored a page from its cache after the user signed out.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && !tokens) location.reload();
});

/**
 * Starts or completes the sign-in when the page loads. Resolves once there is a session. Redirects to the provider when
 * necessary; the promise then stays pending. Throws SignInError.
 */
export async function openSession(): Promise<void> {
  const { pathname, search, hash } = location;
  const oneTime = /^#one-time=([\w-]+)$/.exec(hash)?.[1];
  if (pathname !== CALLBACK)
    await beginSignIn(oneTime === undefined ? pathname + search + hash : '/console/', oneTime);
  tokens = await completeSignIn();
  user = tokens.sub;
  if (location.pathname !== WINDOW) return;
  sendTokens(tokens);
  await new Promise(() => undefined);
}

/** Registers the function that asks the user to sign in again. */
export function onSessionEnd(ask: () => Promise<Tokens>): void {
  askUser = ask;
}

/** Returns the access token, renewed when it is about to expire. Waits while the user has to sign in again. */
export async function currentToken(): Promise<string> {
  await leaving;
  if (tokens && tokens.expiresAt - Date.now() > RENEW_BEFORE_MS) return tokens.access;
  return renewToken();
}

/** Records that the service accepted a token. */
export function recordAccepted(token: string): void {
  accepted = token;
}

/** Returns another token after the service refused one. Throws SignInError when the service has never accepted any. */
export async function replaceToken(refused: string): Promise<string> {
  await leaving;
  if (tokens && tokens.access !== refused) return tokens.access;
  // A new token would be refused as well.
  if (accepted === undefined)
    throw new SignInError(
      'The service does not accept the tokens of its identity provider. Ask the operator of this Weir service to check that they are JWTs with the audience WEIR_OIDC_AUDIENCE.',
    );
  return renewToken();
}

/** Ends the session here, in other tabs, and at the provider. */
export async function signOut(): Promise<void> {
  const { server, client, options } = await getProvider();
  const old = tokens;
  pauseRequests();
  TABS.postMessage(SIGN_OUT);
  if (old?.refresh && server.revocation_endpoint)
    await oauth.revocationRequest(server, client, oauth.None(), old.refresh, options).catch(() => undefined);
  if (!server.end_session_endpoint) return goToSignedOut();
  const url = new URL(server.end_session_endpoint);
  url.searchParams.set('client_id', client.client_id);
  url.searchParams.set('post_logout_redirect_uri', location.origin + SIGNED_OUT);
  if (old?.id) url.searchParams.set('id_token_hint', old.id);
  location.assign(url);
}

function renewToken(): Promise<string> {
  renewal ??= renew().finally(() => {
    renewal = undefined;
  });
  return renewal;
}

async function renew(): Promise<string> {
  const renewed =
    (await refresh()) ?? (askUser ? await askUser() : await beginSignIn(location.pathname + location.search));
  await leaving;
  if (user !== renewed.sub) {
    // The page, and what it was about to send, belong to another user.
    pauseRequests();
    location.reload();
    await leaving;
    return renew();
  }
  tokens = renewed;
  return tokens.access;
}

/** Uses the refresh token; undefined when there is none or the provider has ended the session. */
async function refresh(): Promise<Tokens | undefined> {
  if (tokens?.refresh === undefined) return undefined;
  const { server, client, options, wanted } = await getProvider();
  try {
    const request = { ...options, additionalParameters: wanted };
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      tokens.refresh,
      request,
    );
    return toTokens(await oauth.processRefreshTokenResponse(server, client, response), tokens);
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError && !isBusy(error)) return undefined;
    // The provider is unreachable or busy. The token may last until it is back.
    if (tokens.expiresAt > Date.now()) return tokens;
    throw new SignInError(
      'The identity provider cannot be reached to renew your session. Try again in a moment.',
    );
  }
}

function goToSignedOut(): void {
  pauseRequests();
  location.assign(SIGNED_OUT);
}

/** Makes requests wait because the page is about to be left. If it stays, the user is asked to sign in again. */
function pauseRequests(): void {
  tokens = undefined;
  leaving ??= new Promise((resolve) => {
    stayOnPage = () => {
      leaving = undefined;
      resolve();
    };
  });
}

/**
 * Opens the sign-in window. Resolves with its tokens; never resolves when the window is closed. Undefined when the
 * browser blocks it.
 */
export function openSignInWindow(): Promise<Tokens> | undefined {
  const name = crypto.randomUUID();
  const channel = new BroadcastChannel(CHANNEL + name);
  const tokens = new Promise<Tokens>((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<Tokens>) => {
      channel.close();
      resolve(data);
    };
  });
  if (window.open(`${WINDOW}#${name}`, '_blank', 'popup,width=520,height=720')) return tokens;
  channel.close();
  return undefined;
}

/** Sends the tokens to the page that opened this window. A window that the user opened becomes the console. */
function sendTokens(tokens: Tokens): void {
  const channel = new BroadcastChannel(CHANNEL + location.hash.slice(1));
  channel.postMessage(tokens);
  channel.close();
  window.close();
  if (!window.closed) location.replace('/console/');
}
