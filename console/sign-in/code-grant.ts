// The authorization code grant with PKCE: the page redirects to the provider, which redirects back to CALLBACK.
import * as oauth from 'oauth4webapi';
import { getProvider, type Tokens, toTokens } from './provider.ts';
import { explainRefusal, SignInError } from './sign-in-error.ts';

export const CALLBACK = '/console/signed-in';
/** The key of the sign-in that has begun: the values to check the provider's response, and where to go afterwards. */
const PENDING = 'weir.sign-in';

type Pending = { state: string; verifier: string; nonce: string; returnTo: string };

/** Redirects to the provider. `oneTime` is the secret of the link that `npm start` prints. Throws SignInError. */
export async function beginSignIn(returnTo: string, oneTime?: string): Promise<never> {
  const { server, client, scope, wanted } = await getProvider();
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
    client_id: client.client_id,
    redirect_uri: location.origin + CALLBACK,
    response_type: 'code',
    scope,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    ...wanted,
    ...(oneTime !== undefined && { weir_one_time: oneTime }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  // Replaces the address, which may contain the secret, in the browser's history.
  location.replace(url);
  return new Promise(() => undefined);
}

/** Exchanges the code in the address for tokens, and restores the address. Throws SignInError. */
export async function completeSignIn(): Promise<Tokens> {
  const pending = JSON.parse(sessionStorage.getItem(PENDING) ?? 'null') as Pending | null;
  sessionStorage.removeItem(PENDING);
  // The address was opened or reloaded without a sign-in, so it starts one.
  if (!pending) return beginSignIn('/console/');
  const answer = new URL(location.href);
  // Keeps the router's state of the history entry.
  history.replaceState(history.state, '', pending.returnTo);
  const { server, client, options, wanted } = await getProvider();
  try {
    const parameters = oauth.validateAuthResponse(server, client, answer, pending.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      location.origin + CALLBACK,
      pending.verifier,
      { ...options, additionalParameters: wanted },
    );
    return toTokens(
      await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: pending.nonce,
      }),
    );
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError)
      throw new SignInError(explainRefusal(error.error, error.error_description));
    if (error instanceof oauth.OperationProcessingError && error.code === oauth.JWT_TIMESTAMP_CHECK)
      throw new SignInError(
        'The sign-in could not be completed: the clock of this device differs from that of the identity provider. Set the date and time right, then sign in again.',
      );
    throw new SignInError(
      'The sign-in could not be completed: the identity provider did not answer as expected. Sign in again.',
    );
  }
}
