import { type Configuration, ResponseBodyError, refreshTokenGrant, tokenRevocation } from 'openid-client';
import { discover, explain, wanted } from './identity-provider.ts';
import type { Session } from './session-store.ts';
import { toSession } from './to-session.ts';

/** Gets new tokens for a session; undefined when the provider has ended it. */
export async function refreshSession(session: Session, refreshToken: string): Promise<Session | undefined> {
  const configuration = await discover(session);
  try {
    return toSession(session, await refreshTokenGrant(configuration, refreshToken, wanted(session.audience)));
  } catch (error) {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return undefined;
    return explain(session.issuer)(error);
  }
}

/** Has the provider forget the refresh token of a session, where it offers that. */
export async function revokeSession(session: Session): Promise<void> {
  const configuration: Configuration = await discover(session);
  const { refreshToken } = session;
  if (refreshToken === undefined || !configuration.serverMetadata().revocation_endpoint) return;
  await tokenRevocation(configuration, refreshToken).catch(explain(session.issuer));
}
