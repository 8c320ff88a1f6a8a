// The HTTP server: limits how long a request may take to arrive and how much one connection may occupy.

import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { ErrorCode } from '../../flow/errors.ts';
import { SMALL_BYTES } from '../../platform/limits/gates.ts';
import { log } from '../../platform/observability/log.ts';
import { unreadableRequests } from '../../platform/observability/metrics/http-metrics.ts';
import { errorBody } from './errors.ts';

/** Checks without progress before a connection is closed: half a minute. */
const LOOKS_MAX = 6;

/** A reader has to take at least this much within them: 8 KB a second. */
export const PROGRESS_BYTES = 256 * 1024;

/** While others wait for the memory of answers, at least this much: 70 KB a second. */
const CROWDED_PROGRESS_BYTES = 2 * 1024 * 1024;

type Drain = {
  /** Closes the server and waits up to `drainMs` for open responses. Closes unused connections at once. */
  drain(drainMs: number): Promise<void>;
  /** Closes connections without open responses while the server drains. Call it whenever a response closes. */
  closed(): void;
};

/** Unanswered requests on one connection, including the one in progress. Well-behaved clients never pipeline more. */
export const PIPELINED_MAX = 20;

const LISTENERS_MAX = 30;

export const TIMINGS = {
  /** For the head of a request to arrive, from its first byte. */
  headersMs: 15_000,
  /** For the whole request to arrive. */
  requestMs: 30_000,
  /**
   * Between two requests. Longer than the 60 s of most proxies, so that the proxy closes first and never sends a
   * request to a closed connection.
   */
  idleMs: 75_000,
  /**
   * Before a silent connection is probed: proxies and NAT drop silent connections, and a vanished client does not
   * answer.
   */
  probeMs: 60_000,
  /** Between two checks for late requests. */
  lookMs: 1_000,
  /** Between two checks for unread responses. */
  unreadLookMs: 5_000,
  /** For the last responses of a connection on which no more requests can arrive. */
  lastAnswersMs: 5_000,
};

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Creates a server that is not listening yet, the set of its open responses, and its drain. The server answers
 * malformed requests itself. `isCrowded` says whether requests wait for response memory.
 */
export function createHttpServer(
  answer: Answer,
  given: Partial<typeof TIMINGS> = {},
  isCrowded: () => boolean = () => false,
): { server: Server; open: Set<ServerResponse> } & Pick<Drain, 'drain'> {
  const { headersMs, requestMs, idleMs, probeMs, lookMs, unreadLookMs, lastAnswersMs } = {
    ...TIMINGS,
    ...given,
  };
  const open = new Set<ServerResponse>();
  const unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  const latest = new WeakMap<Socket, ServerResponse>();

  /**
   * Answers the requests of one connection one by one: no memory is reserved for a response that the client cannot
   * read yet.
   */
  function admit(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const own = unanswered.get(socket) ?? new Set();
    unanswered.set(socket, own);
    own.add(response);
    latest.set(socket, response);
    if (own.size > PIPELINED_MAX) socket.destroy();
    else if (own.size === 1) begin(response, socket, own);
  }

  function begin(response: ServerResponse, socket: Socket, own: Set<ServerResponse>): void {
    open.add(response);
    // Several middleware functions listen for the end of a response, each once.
    response.setMaxListeners(LISTENERS_MAX);
    response.once('close', () => {
      own.delete(response);
      open.delete(response);
      closed();
      const [next] = own;
      if (next && socket.writable) begin(next, socket, own);
    });
    answer(response.req, response);
  }

  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: idleMs,
      keepAlive: true,
      keepAliveInitialDelay: probeMs,
      connectionsCheckingInterval: lookMs,
      // The application rejects a missing Host, so that the response has a body.
      requireHostHeader: false,
    },
    admit,
  );
  // An unknown expectation may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', admit);
  server.on('clientError', (error, socket) => refuse(error, socket as Socket));
  server.on('connect', (_request, socket: Socket) => {
    // Node.js has removed its own listeners from this socket.
    socket.on('error', () => undefined);
    refuse(new Error('CONNECT is not for this server'), socket);
  });
  closeUnreadConnections(server, open, unreadLookMs, isCrowded);
  const { drain, closed } = createDrain(server, open);
  return { server, open, drain };

  /** Answers a malformed or late request with the usual shape of errors. */
  function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) return;
    const last = latest.get(socket);
    // The request was answered before its body had arrived: another response would be taken for the next request's.
    if (last?.writableFinished && !last.req.complete) {
      socket.destroy();
      return;
    }
    const [status, code, message] = describe(error);
    const own = unanswered.get(socket);
    const pending = [...(own ?? [])].filter((response) => !response.writableFinished);
    // The error belongs to the last request's body, or to a request whose headers are incomplete.
    const failed = pending.at(-1)?.req.complete === false ? pending.pop() : undefined;
    const sending = failed?.headersSent ? failed : pending.at(-1);
    // A request that the application has begun to answer logs its own line. A request that is queued behind others is
    // dropped.
    const isBegun = failed !== undefined && open.has(failed);
    const waits = failed !== undefined && !isBegun && sending !== undefined;
    if (!isBegun) note(sending ? null : status, error.code);
    if (failed && !isBegun) own?.delete(failed);
    // A response now would be taken for another request's, or corrupt the one in progress.
    if (sending) {
      socket.pause();
      sending.once('close', () => socket.destroySoon());
      // The body of a queued request may be late because nobody reads it: earlier responses are not cut off.
      if (waits) return;
      const late = setTimeout(() => socket.destroy(), lastAnswersMs).unref();
      socket.once('close', () => clearTimeout(late));
      return;
    }
    const body = JSON.stringify(errorBody(code, message));
    // Destroyed, because a client that never closes its side would keep the socket open.
    socket.once('finish', () => socket.destroy());
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
    );
  }

  function describe(error: NodeJS.ErrnoException): [status: number, code: ErrorCode, message: string] {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
      return [408, 'REQUEST_TIMEOUT', arrivedLate(headersMs, requestMs)];
    if (error.code === 'HPE_HEADER_OVERFLOW') return [431, 'BAD_REQUEST', HEADERS_TOO_LARGE];
    return [400, 'BAD_REQUEST', notHttp(error.message)];
  }
}

/** Counts and logs a rejected request that the application did not see. Neither contains what was sent. */
function note(status: number | null, reason: string | undefined): void {
  unreadableRequests.add(1, status === null ? {} : { 'http.response.status_code': status });
  log.info({ method: null, route: null, status, reason }, 'Request');
}

/** The message for a request that did not arrive within `requestMs`, or its head within `headersMs`. */
export function arrivedLate(headersMs = TIMINGS.headersMs, requestMs = TIMINGS.requestMs): string {
  return `The request did not arrive in time: its head within ${headersMs / 1_000} s, all of it within ${requestMs / 1_000} s.`;
}

/** The message for a request that the HTTP parser refuses. */
export function notHttp(problem: string): string {
  return `The request is not valid HTTP: ${problem}`;
}

export const HEADERS_TOO_LARGE = 'The headers have over 16 KiB: send fewer, or shorter ones.';

function createDrain(server: Server, open: Set<ServerResponse>): Drain {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  let isDraining = false;

  /** Node.js takes a connection for idle when the response has ended, though most of it may not be sent yet. */
  function closeIdle(): void {
    const isSending = [...open].some((answer) => answer.writableEnded && !answer.writableFinished);
    if (!isSending) server.closeIdleConnections();
  }

  return {
    async drain(drainMs) {
      isDraining = true;
      const closed = once(server, 'close');
      // The HTTP server's own `close` would close those connections and stop the check for late requests.
      NetServer.prototype.close.call(server);
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      closeIdle();
      const over = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(over);
      // Stops the check for late requests.
      server.close();
    },
    closed() {
      if (isDraining) setImmediate(closeIdle);
    },
  };
}

/**
 * Closes connections whose clients do not read, because unread responses occupy memory. Checks the `open` responses
 * every `lookMs`. While `isCrowded`, large responses must be read faster.
 */
export function closeUnreadConnections(
  server: Server,
  open: Set<ServerResponse>,
  lookMs: number,
  isCrowded: () => boolean,
): void {
  /** For each response with unread bytes: the bytes taken at the last progress, and the checks since. */
  const waiting = new WeakMap<ServerResponse, { taken: number; looks: number }>();

  function look(): void {
    const crowded = isCrowded();
    for (const response of open) {
      const { socket } = response;
      const left = socket ? waitingBytes(socket) : 0;
      if (!socket || left === 0) {
        waiting.delete(response);
        continue;
      }
      const taken = socket.bytesWritten - left;
      const known = waiting.get(response);
      const least = crowded && left >= SMALL_BYTES ? CROWDED_PROGRESS_BYTES : PROGRESS_BYTES;
      if (!known || taken - known.taken >= least) waiting.set(response, { taken, looks: 0 });
      // Counts checks instead of time: a blocked process has not seen what clients read meanwhile.
      else if (++known.looks >= LOOKS_MAX) socket.destroy();
    }
  }

  const timer = setInterval(look, lookMs).unref();
  server.once('close', () => clearInterval(timer));
}

/**
 * Returns the bytes that the client has not taken yet. Node.js counts a write until all of it is sent; the socket's
 * handle is more precise.
 */
function waitingBytes(socket: Socket & { _handle?: { writeQueueSize?: number } }): number {
  if (socket.writableLength === 0) return 0;
  return socket._handle?.writeQueueSize ?? socket.writableLength;
}
