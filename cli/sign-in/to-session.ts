import type { TokenEndpointResponse } from 'openid-client';
import type { Session } from './session-store.ts';

/** A provider that does not say how long its tokens last is asked for a new one after five minutes. */
const LIFETIME_SECONDS = 300;
const LIFETIME_MAX_SECONDS = 365 * 24 * 60 * 60;

/** Makes a session of the provider's answer; a refresh token that it did not replace stays. */
export function toSession(
  before: Pick<Session, 'issuer' | 'clientId' | 'audience' | 'refreshToken'>,
  { access_token, expires_in = LIFETIME_SECONDS, refresh_token }: TokenEndpointResponse,
): Session {
  const refreshToken = refresh_token ?? before.refreshToken;
  return {
    issuer: before.issuer,
    clientId: before.clientId,
    audience: before.audience,
    accessToken: access_token,
    expiresAt: Date.now() + Math.min(expires_in, LIFETIME_MAX_SECONDS) * 1_000,
    ...(refreshToken !== undefined && { refreshToken }),
  };
}
