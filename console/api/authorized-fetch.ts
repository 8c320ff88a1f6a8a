import { currentToken, noteAccepted, replaceToken } from '../sign-in/session.ts';
import { unreachable } from './api-error.ts';

/** Sends a request to the service with the user's token; a token that is refused is replaced once. Throws UNREACHABLE. */
export async function authorizedFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const token = await currentToken();
  const response = await send(request, token);
  if (response.status !== 401) return response;
  return send(again, await replaceToken(token));
}

async function send(request: Request, token: string): Promise<Response> {
  request.headers.set('authorization', `Bearer ${token}`);
  try {
    const response = await fetch(request);
    if (response.status !== 401) noteAccepted(token);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable(request.method);
  }
}
