// platform/net/ is outgoing HTTP. Destinations that users choose are guarded, as here: only public addresses are dialled, and only
// the start of an answer is read (docs/webhooks.md). Addresses that operators configure are fetched as they are (fetchJson).
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { isIP, type Socket, type TcpSocketConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { describeNetworkError } from './describe-network-error.ts';
import { readAnswerStart } from './read-answer-start.ts';
import { type DialTarget, type ResolvePublic, withoutBrackets } from './resolve-public.ts';

/** Time limit of the look-up, TCP and TLS together. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** Time limit from the look-up to the status line. */
export const TOTAL_TIMEOUT_MS = 20_000;
const HEADERS_MAX_BYTES = 16_384;
/** Time limit for one of several addresses; Node's default of 250 ms is too short for a distant host. */
const ADDRESS_TIMEOUT_MS = 1_000;

/** The status of the answer and the first bytes of its body, at most ANSWER_BODY_MAX_BYTES. */
export type GuardedAnswer = { status: number; body: Buffer };

/** Nothing was sent because the destination is not public. */
export class DestinationBlocked extends Error {}

/** There was no answer; the message says why, for the person who runs the destination. */
export class NoAnswer extends Error {}

export type GuardedPost = (
  url: URL,
  headers: { [name: string]: string },
  body: Buffer,
) => Promise<GuardedAnswer>;

/**
 * Creates a function that sends one POST on its own connection, to an address checked just before. It follows no redirects,
 * uses no proxy but `proxy`, and always verifies certificates, against `ca` (PEM) too if given. The function throws
 * DestinationBlocked or NoAnswer.
 */
export function createGuardedPost({
  resolvePublic,
  ca,
  proxy,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
  totalTimeoutMs = TOTAL_TIMEOUT_MS,
}: {
  resolvePublic: ResolvePublic;
  ca?: string | undefined;
  proxy?: URL | undefined;
  connectTimeoutMs?: number;
  totalTimeoutMs?: number;
}): GuardedPost {
  // Created once, since reading the authorities takes longer than the rest of a connection.
  const secureContext = createSecureContext(
    ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] },
  );

  return async function guardedPost(url, headers, body) {
    const connecting = AbortSignal.timeout(connectTimeoutMs);
    const waiting = AbortSignal.timeout(totalTimeoutMs);
    const resolution = await resolvePublic(url);
    if (resolution.problem === 'not_public') throw new DestinationBlocked(`${resolution.message}.`);
    if (resolution.problem) throw new NoAnswer(`${resolution.message}.`);
    const { targets } = resolution;
    let socket: TLSSocket | undefined;
    try {
      socket = await openSocket(url, targets, { secureContext, proxy }, connecting);
      const answer = await send(socket, url, headers, body, waiting);
      return { status: answer.statusCode ?? 0, body: await readAnswerStart(answer) };
    } catch (error) {
      if (waiting.aborted) throw new NoAnswer(`There was no answer within ${totalTimeoutMs / 1_000} s.`);
      throw new NoAnswer(`There was no answer: ${describe(error)}.`);
    } finally {
      socket?.destroy();
    }
  };
}

/** Connects to one of the checked addresses only; the certificate is still verified for the host's name. */
async function openSocket(
  url: URL,
  targets: [DialTarget, ...DialTarget[]],
  { secureContext, proxy }: { secureContext: SecureContext; proxy: URL | undefined },
  signal: AbortSignal,
): Promise<TLSSocket> {
  const isName = isIP(withoutBrackets(url.hostname)) === 0;
  const [first] = targets;
  const options: ConnectionOptions & Pick<TcpSocketConnectOpts, 'autoSelectFamilyAttemptTimeout'> = {
    host: isName ? url.hostname : first.address,
    port: first.port,
    // Called for names only. It answers on the next tick, so that an error of an immediate failure, as without a route, does
    // not come before there is a listener.
    lookup: (_hostname, _options, callback) => {
      const addresses = targets.map(({ address, family }) => ({ address, family }));
      process.nextTick(callback, null, addresses);
    },
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    ...(isName && { servername: url.hostname }),
    secureContext,
    ALPNProtocols: ['http/1.1'],
  };
  let socket: TLSSocket | undefined;
  try {
    socket = connect({ ...options, ...(proxy && { socket: await connectThrough(proxy, targets, signal) }) });
    // An error without a listener would end the process.
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket?.destroy();
    throw signal.aborted ? new Error('the connection took too long') : error;
  }
}

/** Sends the request with Node's own client because, unlike undici, it skips an unrequested `100 Continue`, as HTTP demands. */
function send(
  socket: TLSSocket,
  { host, pathname, search }: URL,
  headers: { [name: string]: string },
  body: Buffer,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({
      createConnection: () => socket,
      method: 'POST',
      path: pathname + search,
      headers: { host, ...headers },
      maxHeaderSize: HEADERS_MAX_BYTES,
      signal,
    })
      .on('response', resolve)
      .on('error', reject)
      // The only event when the other side speaks another protocol.
      .on('close', () => reject(new Error('the connection was closed')))
      .end(body);
  });
}

/** Describes an error; those made in platform/net/ have a message and no code. */
function describe(error: unknown): string {
  const isOurs = error instanceof Error && error.constructor === Error && !('code' in error);
  return describeNetworkError(error, isOurs ? error.message : undefined);
}

// Connects through an HTTP proxy (RFC 9110, CONNECT), for machines without another way out.

/**
 * Connects to the first of the checked addresses that `proxy` (`http://[user:password@]host:port`) reaches. The proxy gets
 * addresses rather than names, since another look-up could lead elsewhere. Errors do not say where the proxy is.
 */
async function connectThrough(
  proxy: URL,
  targets: [DialTarget, ...DialTarget[]],
  signal: AbortSignal,
): Promise<Socket> {
  let status: number | undefined;
  for (const target of targets) {
    const asking = ask(proxy, target, signal);
    const [answer, socket] = await once(asking, 'connect').catch(() => {
      throw new Error('the egress proxy does not answer');
    });
    status = (answer as IncomingMessage).statusCode ?? 0;
    if (status >= 200 && status < 300) return socket;
    socket.destroy();
  }
  throw new Error(`the egress proxy refused it with status ${status}`);
}

function ask(proxy: URL, { address, family, port }: DialTarget, signal: AbortSignal): ClientRequest {
  const authority = `${family === 6 ? `[${address}]` : address}:${port}`;
  const { hostname, username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return (
    request({
      host: withoutBrackets(hostname),
      port: proxy.port || 80,
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(username !== '' && { 'proxy-authorization': `Basic ${btoa(credentials)}` }),
      },
      agent: false,
      signal,
    })
      // The request removes its own listeners from the socket when it is answered.
      .on('connect', (_answer, socket) => socket.on('error', () => undefined))
      .end()
  );
}
