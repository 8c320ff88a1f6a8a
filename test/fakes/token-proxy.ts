// Adds a bearer token to each request, for clients that cannot sign in.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TokenProxy = {
  origin: string;
  /** Sends requests to `origin` with this token from now on. */
  forward(origin: string, token: string): void;
  close(): Promise<void>;
};

/** Starts the proxy on loopback. */
export async function startTokenProxy(): Promise<TokenProxy> {
  let target: { origin: string; token: string } | undefined;
  const server = createServer((incoming, response) => {
    const { origin = '', token = '' } = target ?? {};
    const outgoing = request(
      new URL(incoming.url ?? '/', origin),
      { method: incoming.method, headers: { ...incoming.headers, authorization: `Bearer ${token}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forward: (origin, token) => {
      target = { origin, token };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
