import { currentToken, renewToken, signInAgain } from '../sign-in/session.ts';
import { unreachable } from './api-error.ts';

/** Sends a request to the service with the user's token; a token that is refused is renewed once. Throws UNREACHABLE. */
export async function authorizedFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await send(request, await currentToken());
  if (response.status !== 401) return response;
  const renewed = await renewToken();
  const second = renewed === undefined ? response : await send(again, renewed);
  if (second.status === 401) await signInAgain();
  return second;
}

async function send(request: Request, token: string): Promise<Response> {
  request.headers.set('authorization', `Bearer ${token}`);
  try {
    return await fetch(request);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  }
}
