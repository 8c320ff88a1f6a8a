// Requests of a start to its own service. `fetch` would do, but takes 6 MB of memory for as long as the start runs.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { http } from './node-http.ts';

type Asked = { headers?: Record<string, string>; body?: string; timeoutMs: number };

/** Sends a GET, or a POST where there is a body. Throws an Error when there is no whole answer within `timeoutMs`. */
export async function askService(
  url: string,
  { headers = {}, body, timeoutMs }: Asked,
): Promise<{ status: number | undefined; text: string }> {
  const method = body === undefined ? 'GET' : 'POST';
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = http.request(url, { method, headers, signal });
  // An answer that is cut off makes `text` fail.
  sent.on('error', () => undefined);
  sent.end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode, text: await text(response) };
  } catch (error) {
    throw signal.aborted ? new Error(`no whole answer within ${timeoutMs / 1_000} s`) : error;
  }
}
