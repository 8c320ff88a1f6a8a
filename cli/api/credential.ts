import { ServiceError } from '../../flow/errors.ts';
import { sessionToken } from '../sign-in/session-token.ts';
import { findLocalStart } from './local-start.ts';
import { localToken } from './local-token.ts';

/** An API key or a JWT, and where it came from. */
export type Credential = {
  token: string;
  source: 'WEIR_TOKEN' | 'WEIR_API_KEY' | 'weir login' | 'npm start';
};

/**
 * Gets the credential for the service at `url`: from the environment, else from the session there, else from a local `npm
 * start`. The last two are never sent to another service.
 */
export async function getCredential(
  url: string,
  { keyOnly = false, jwtOnly = false } = {},
): Promise<Credential> {
  const { WEIR_TOKEN, WEIR_API_KEY } = process.env;
  if (WEIR_TOKEN && !keyOnly) return { token: WEIR_TOKEN, source: 'WEIR_TOKEN' };
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
      : `There is no credential for the service at ${url}. Sign in with weir login ${url}, or set WEIR_API_KEY to one of its keys.`,
  );
}
