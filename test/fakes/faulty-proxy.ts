// A proxy between a client and a real API that makes each fault happen once which a client must get over.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type FaultyProxy = {
  url: string;
  /** The key of every POST, in order. */
  idempotencyKeys: string[];
  /** The Last-Event-ID of every request that had one. */
  lastEventIds: string[];
  close(): Promise<void>;
};

/**
 * Refuses the first POST with 429, loses the answer to the second (503 in its place), and breaks off the first stream
 * after its first `block_completed`.
 */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const idempotencyKeys: string[] = [];
  const lastEventIds: string[] = [];
  let toBreak = true;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url } = request;
    const headers = new Headers(request.headers as Record<string, string>);
    headers.delete('connection');
    const body = method === 'POST' ? await buffer(request) : null;
    if (body) idempotencyKeys.push(headers.get('idempotency-key') ?? '');
    const lastEventId = headers.get('last-event-id');
    if (lastEventId) lastEventIds.push(lastEventId);
    const posts = body ? idempotencyKeys.length : 0;
    if (posts === 1) return void response.writeHead(429, { 'Retry-After': '1' }).end();
    const answer = await fetch(`${target}${url}`, { method, headers, body });
    if (posts === 2) {
      await answer.text();
      return void response.writeHead(503).end();
    }
    const type = answer.headers.get('content-type') ?? '';
    response.writeHead(answer.status, { 'content-type': type });
    let sent = '';
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const [end] = /^.*?event: block_completed\n.*?\n\n/s.exec(sent + chunk) ?? [];
      if (end !== undefined && toBreak) {
        toBreak = false;
        return void response.write(end.slice(sent.length), () => response.destroy());
      }
      response.write(chunk);
      sent += chunk;
    }
    response.end();
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    idempotencyKeys,
    lastEventIds,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
