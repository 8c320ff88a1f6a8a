import { currentToken, recordAccepted, replaceToken } from '../sign-in/session.ts';
import { ApiError, unreachable } from './api-error.ts';
import { fetchWithin } from './fetch-within.ts';

/** The service refuses a read after at most 10 s for a database connection and 20 s for a statement. */
const READ_TIMEOUT_MS = 35_000;
/** A change may wait 30 s in the queue, 30 s for the database and 20 s for the receiver of a test event. */
const CHANGE_TIMEOUT_MS = 90_000;

/**
 * Sends a request to the service with the user's access token, and once more with a new token after a 401.
 * `silenceMaxMs` is how long the service may send nothing. Throws UNREACHABLE or TIMED_OUT.
 */
export async function authorizedFetch(
  request: Request,
  silenceMaxMs = request.method === 'GET' ? READ_TIMEOUT_MS : CHANGE_TIMEOUT_MS,
): Promise<Response> {
  const retry = request.clone();
  const token = await currentToken();
  const response = await send(request, token, silenceMaxMs);
  if (response.status !== 401) return response;
  return send(retry, await replaceToken(token), silenceMaxMs);
}

async function send(request: Request, token: string, silenceMaxMs: number): Promise<Response> {
  request.headers.set('authorization', `Bearer ${token}`);
  try {
    const response = await fetchWithin(request, silenceMaxMs);
    if (response.status !== 401) recordAccepted(token);
    return response;
  } catch (error) {
    if (error instanceof ApiError || (error instanceof DOMException && error.name === 'AbortError'))
      throw error;
    throw unreachable(request.method);
  }
}
