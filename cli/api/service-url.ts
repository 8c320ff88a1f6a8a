import { ServiceError } from '../../flow/errors.ts';
import { readSessions } from '../sign-in/session-store.ts';
import { findLocalStart, requireStarted, stateFolder } from './local-start.ts';

const DEFAULT_URL = 'http://127.0.0.1:8787';

/**
 * Finds the base URL of the service, without a trailing slash: that of WEIR_URL, else that of the last
 * `weir login`, else that of a local `npm start`.
 */
export function serviceUrl(sessions?: { current?: string }): string {
  const { WEIR_URL, WEIR_OPERATOR_KEY, WEIR_TOKEN, WEIR_API_KEY } = process.env;
  if (WEIR_URL) return parseServiceUrl('WEIR_URL', WEIR_URL);
  const { current } = sessions ?? readSessions();
  if (current !== undefined) return current;
  const local = findLocalStart();
  if (local) return local.WEIR_URL;
  if (WEIR_OPERATOR_KEY || WEIR_TOKEN || WEIR_API_KEY) return DEFAULT_URL;
  requireStarted();
  throw new ServiceError(
    'VALIDATION_ERROR',
    'No service is known. Sign in to one with weir login <url>; or set WEIR_URL, and WEIR_API_KEY or WEIR_TOKEN; ' +
      `or run npm start first (${stateFolder()} has no state of it; WEIR_STATE_DIR names another folder).`,
  );
}

/** Reads the base URL of a service from `name`, which says where it was written. */
export function parseServiceUrl(name: string, text: string): string {
  const url = text.replace(/\/+$/, '');
  const parsed = URL.parse(url);
  if (/[@?#]/.test(url))
    throw new ServiceError(
      'VALIDATION_ERROR',
      `${name} must have no user, password or query: WEIR_TOKEN and WEIR_API_KEY are for the credential.`,
    );
  if (parsed && /^https?:$/.test(parsed.protocol)) return url;
  throw new ServiceError('VALIDATION_ERROR', `${name} must be an http or https URL; it is ${text}.`);
}
