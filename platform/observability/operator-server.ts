// A small HTTP server for operators: metrics and health, on ports of their own.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { log } from './log.ts';

/** Far more than scrapers and probes open. */
const CONNECTIONS_MAX = 50;
const REQUEST_MAX_MS = 5_000;

type Answer = { status?: number; type: string; body: string };
export type OperatorServer = { port: number; close(): Promise<void> };

/**
 * Serves GET requests for the paths of `answers`, whatever their query, and does not keep the process from ending. Rejects with a
 * sentence that names `variable` when the port cannot be had. `close` does not wait for requests.
 */
export async function serveOperators(
  { host, port, variable }: { host: string; port: number; variable: string },
  answers: { [path: string]: () => Promise<Answer> },
): Promise<OperatorServer> {
  const server = createServer(
    { headersTimeout: REQUEST_MAX_MS, requestTimeout: REQUEST_MAX_MS, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      response.on('error', () => undefined);
      // No endpoint here reads a body, so a body is discarded.
      request.on('error', () => undefined).resume();
      const path = request.url?.split('?', 1)[0] ?? '';
      const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
      if (!answer) return send(response, { status: 404, type: 'text/plain', body: 'Not found.\n' });
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return send(response, { status: 405, type: 'text/plain', body: 'Use GET.\n' });
      answer().then(
        (made) => send(response, made),
        (error: unknown) => {
          log.warn({ err: error, path }, 'A request of an operator could not be answered.');
          send(response, { status: 500, type: 'text/plain', body: 'See the log of the service.\n' });
        },
      );
    },
  );
  boundConnections(server);
  server.on('clientError', (_error, socket) => socket.destroy());
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening.catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'the port is taken' : error.message;
    throw new Error(`${variable} ${port} on ${host} cannot be used: ${why}.`);
  });
  // A process whose work has failed ends, though nobody closes this.
  server.unref();
  server.on('error', (err) => log.warn({ err }, `The server at ${variable} has a problem.`));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Closes a connection for each that is one too many: the oldest that asks for nothing, else the oldest. So neither strangers who
 * are silent nor those who do not read their answers keep others out.
 */
function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  const asking = new Set<Socket>();
  server.on('connection', (socket) => {
    if (open.size >= CONNECTIONS_MAX) {
      const inOrder = [...open];
      const dropped = inOrder.find((one) => !asking.has(one)) ?? inOrder[0];
      if (dropped) open.delete(dropped.destroy());
    }
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    asking.add(socket);
    response.once('close', () => asking.delete(socket));
  });
}

function send(response: ServerResponse, { status = 200, type, body }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 && { Allow: 'GET, HEAD' }),
  });
  response.end(body);
}
