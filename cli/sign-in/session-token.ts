import { ServiceError } from '../../flow/errors.ts';
import { readSessions, type Session, withSessionLock, writeSessions } from './session-store.ts';

/** A token is replaced this long before it expires. */
const RENEW_MS = 60_000;

/** Gets the access token of the session at a service, a new one where it expires soon; undefined without a session. */
export async function sessionToken(url: string): Promise<string | undefined> {
  const session = readSessions().services[url];
  if (!session) return undefined;
  return isFresh(session) ? session.accessToken : withSessionLock(() => renew(url));
}

/** Another command may have renewed the session, or ended it, while this one waited. */
async function renew(url: string): Promise<string> {
  const sessions = readSessions();
  const session = sessions.services[url];
  if (!session) throw ended(url);
  if (isFresh(session)) return session.accessToken;
  if (session.refreshToken === undefined) throw ended(url);
  const { refreshSession } = await import('./refresh-session.ts');
  const renewed = await refreshSession(session, session.refreshToken);
  if (!renewed) throw ended(url);
  writeSessions({ ...sessions, services: { ...sessions.services, [url]: renewed } });
  return renewed.accessToken;
}

function isFresh({ expiresAt }: Session): boolean {
  return expiresAt - RENEW_MS > Date.now();
}

function ended(url: string): ServiceError {
  return new ServiceError(
    'UNAUTHENTICATED',
    `Your session at ${url} has ended. Sign in again: weir login ${url}`,
  );
}
