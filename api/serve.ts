import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createResolvePublic } from '../net/resolve-public.ts';
import { createApp } from './app.ts';
import type { ApiDeps } from './context.ts';
import { errorBody } from './errors.ts';
import { createKeyCache } from './key-cache.ts';
import { createTokenVerifier } from './verify-token.ts';

const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** How long a stop waits for requests that are being answered. */
const DRAIN_MS = 30_000;

export type RunningApi = {
  port: number;
  /** Turns readiness off, takes no new connection, waits up to 30 s for the requests under way. */
  close(): Promise<void>;
};

/** Listens on the configured host and port. Rejects when the port is taken. What it is given the caller closes. */
export async function serveApi(
  given: Omit<ApiDeps, 'keys' | 'tokens' | 'resolvePublic' | 'stopping'>,
): Promise<RunningApi> {
  const { config, db } = given;
  let ready = true;
  const stopping = new AbortController();
  const keys = createKeyCache(db, config.databaseUrl);
  const deps: ApiDeps = {
    ...given,
    keys,
    tokens: createTokenVerifier(config),
    resolvePublic: createResolvePublic(config),
    stopping: stopping.signal,
  };
  const app = createApp(deps, () => ready).callback();
  const open = new Set<ServerResponse>();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    if (!ready) closeAfter(response);
    return app(request, response);
  };
  const server = createServer(
    // A missing Host is refused by the application, which gives the answer a body.
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, requireHostHeader: false },
    answer,
  );
  // An expectation that is not known may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', answer);
  server.on('clientError', refuse);
  server.on('connect', (_request, socket: Socket) => {
    // The server's own listeners have left it.
    socket.on('error', () => undefined);
    refuse(new Error('CONNECT is not for this server'), socket);
  });
  server.listen(config.port, config.host);
  await once(server, 'listening');
  server.on('error', (error) => console.error('A connection could not be accepted:', error));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      ready = false;
      stopping.abort();
      for (const response of open) closeAfter(response);
      await drain(server);
      await keys.close();
    },
  };
}

/** Sends the caller's next request elsewhere: on a connection that stays open, one follows the other for ever. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** A request that is not HTTP gets an answer in the shape of every other error. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const status = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }[error.code ?? ''] ?? 400;
  const body = JSON.stringify(errorBody('BAD_REQUEST', `The request is not valid HTTP: ${error.message}`));
  // A caller that never closes its side holds no socket.
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(timer);
}
