// A webhook receiver over real TLS on loopback that does what the test says, and keeps the requests it got.
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Authority, createAuthority } from '../certificates.ts';

export type Received = { path: string; headers: IncomingHttpHeaders; body: Buffer };
/** Handles one request. */
export type Reaction = (response: ServerResponse, request: Received) => void;

export type WebhookReceiver = {
  /** The name it is known by: every certificate is for `*.hooks.test`. */
  host: string;
  port: number;
  received: Received[];
  /** The reactions to the next requests; later ones get 204. */
  will(...reactions: Reaction[]): void;
  /** Resolves once `count` requests have arrived since the start. */
  arrived(count: number): Promise<void>;
  /** Resolves with the requests of the delivery or run with this id, once there are `count`. */
  arrivalsOf(id: string, count?: number): Promise<Received[]>;
  close(): Promise<void>;
};

export const answerWith =
  (status: number, body = '', headers: Record<string, string> = {}): Reaction =>
  (response) =>
    response.writeHead(status, headers).end(body);
export const hang: Reaction = () => undefined;
export const reset: Reaction = (response) => response.socket?.destroy();
export const sendForever: Reaction = (response) => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const send = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', send);
  send();
};
/** Sends the status and one byte, then nothing. */
export const dripBody: Reaction = (response) => void response.writeHead(200).write('x');
export const resetMidBody: Reaction = (response) => {
  response.writeHead(200).write('x', () => response.socket?.destroy());
};
export const sendHugeHeaders = answerWith(200, '', { 'x-huge': 'x'.repeat(100_000) });

let shared: Authority | undefined;
/** The certificate authority of every receiver in this process. */
export function testAuthority(): Authority {
  shared ??= createAuthority();
  return shared;
}

let count = 0;

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const reactions: Reaction[] = [];
  const received: Received[] = [];
  const server = createServer(testAuthority().issue(['*.hooks.test']), async (request, response) => {
    response.on('error', () => undefined);
    const arrival = { path: request.url ?? '', headers: request.headers, body: await buffer(request) };
    received.push(arrival);
    server.emit('arrival');
    (reactions.shift() ?? answerWith(204))(response, arrival);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  count += 1;
  return {
    host: `r${count}.hooks.test`,
    port: (server.address() as AddressInfo).port,
    received,
    will: (...more) => void reactions.push(...more),
    async arrived(total) {
      while (received.length < total) await once(server, 'arrival');
    },
    async arrivalsOf(id, count = 1) {
      for (;;) {
        const found = received.filter(
          ({ headers, body }) => headers['x-weir-delivery'] === id || body.includes(id),
        );
        if (found.length >= count) return found;
        await once(server, 'arrival');
      }
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
