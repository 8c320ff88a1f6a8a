import { ServiceError } from '../../flow/errors.ts';
import { readSessions, type Session, withSessionLock, writeSessions } from '../sign-in/session-store.ts';
import { note } from '../terminal/print.ts';
import { findLocalStart, localToken } from './local-start.ts';

/** A token is replaced this long before it expires. */
const RENEW_MS = 60_000;

/** An operator's key, an API key or a JWT, and where it came from. */
export type Credential = {
  token: string;
  source: 'WEIR_OPERATOR_KEY' | 'WEIR_TOKEN' | 'WEIR_API_KEY' | 'weir login' | 'npm start';
};

const WHY: { [status: number]: string } = {
  401: 'is not valid, or may not do this',
  404: 'finds no such flow',
};

/** The sign-in that is used instead of WEIR_API_KEY for the rest of the command. */
let insteadOfKey: Credential | undefined;

/**
 * Makes the rest of the command use the sign-in at `url`, because WEIR_API_KEY may not do what it needs, and says so. `status`:
 * the answer to the key; a 401 may also mean that it is not valid, and a 404 that the flow is in another project. Returns
 * whether there is a sign-in.
 */
export async function useSignIn(url: string, status = 403): Promise<boolean> {
  if (insteadOfKey) return true;
  if ((await getCredential(url)).source !== 'WEIR_API_KEY') return false;
  insteadOfKey = await getCredential(url, { jwtOnly: true }).catch(() => undefined);
  const why = WHY[status] ?? 'may not do this';
  if (insteadOfKey) note(`WEIR_API_KEY ${why}. The sign-in of ${insteadOfKey.source} is used instead.`);
  return insteadOfKey !== undefined;
}

export function forgetSignIn(): void {
  insteadOfKey = undefined;
}

/**
 * Gets the credential for the service at `url`: from the environment, else from the session there, else from a local `npm
 * start`. The last two are never sent to another service.
 */
export async function getCredential(
  url: string,
  { keyOnly = false, jwtOnly = false } = {},
): Promise<Credential> {
  const { WEIR_OPERATOR_KEY, WEIR_TOKEN, WEIR_API_KEY } = process.env;
  if (WEIR_OPERATOR_KEY && !keyOnly && !jwtOnly)
    return { token: WEIR_OPERATOR_KEY, source: 'WEIR_OPERATOR_KEY' };
  if (WEIR_TOKEN && !keyOnly) return { token: WEIR_TOKEN, source: 'WEIR_TOKEN' };
  if (insteadOfKey && !keyOnly) return insteadOfKey;
  if (WEIR_API_KEY && !jwtOnly) return { token: WEIR_API_KEY, source: 'WEIR_API_KEY' };
  const session = keyOnly ? undefined : await sessionToken(url);
  if (session !== undefined) return { token: session, source: 'weir login' };
  const local = findLocalStart();
  if (local && local.WEIR_URL === url && (local.identity || !jwtOnly))
    return {
      token: local.identity && !keyOnly ? await localToken(local.identity) : local.WEIR_API_KEY,
      source: 'npm start',
    };
  if (jwtOnly)
    throw new ServiceError(
      'UNAUTHENTICATED',
      `No user is signed in to the service at ${url}. Sign in with weir login ${url}, or set WEIR_TOKEN.`,
    );
  throw new ServiceError(
    'UNAUTHENTICATED',
    keyOnly
      ? `WEIR_API_KEY is not set. Set it to a key of the service at ${url}.`
      : `You are not signed in to the service at ${url}. Sign in with weir login ${url}, or set WEIR_API_KEY to one of its keys.`,
  );
}

/** Gets the access token of the session at a service, a new one where it expires soon; undefined without a session. */
async function sessionToken(url: string): Promise<string | undefined> {
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
  const { refreshSession } = await import('../sign-in/identity-provider.ts');
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
