// POST to a URL that a user chose (spec: Webhook events, "Response handling" and timeouts).
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { isIP, type TcpSocketConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { describeNetworkError } from './describe-network-error.ts';
import { connectThrough } from './egress-proxy.ts';
import { type DialTarget, type ResolvePublic, withoutBrackets } from './resolve-public.ts';

/** Looking the host up, TCP and TLS together. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** From the first look-up to the status line. */
export const TOTAL_TIMEOUT_MS = 20_000;
/** The answer's body decides nothing: what has not come by then is not waited for. */
const BODY_TIMEOUT_MS = 2_000;
export const BODY_MAX_BYTES = 4_096;
const HEADERS_MAX_BYTES = 16_384;
/** For one address of several, before the next is tried: with Node's 250 ms a distant host has none that answers. */
const ADDRESS_TIMEOUT_MS = 1_000;

/** The status of the answer and the first bytes of its body, at most BODY_MAX_BYTES. */
export type GuardedAnswer = { status: number; body: Buffer };

/** Nothing was sent, because the destination is not a public one. */
export class DestinationBlocked extends Error {}

/** There is no answer; the message says why, in words for the owner of the destination. */
export class NoAnswer extends Error {}

export type GuardedPost = (
  url: URL,
  headers: { [name: string]: string },
  body: Buffer,
) => Promise<GuardedAnswer>;

/**
 * A function that sends one POST on a connection of its own, to an address that was checked just before. Redirects are
 * not followed, no proxy but `proxy` is used, certificates are always verified, against `ca` (PEM) too where given.
 * Throws DestinationBlocked or NoAnswer.
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
  // Made once: reading the authorities takes longer than all else that a connection does.
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
      return { status: answer.statusCode ?? 0, body: await readStart(answer) };
    } catch (error) {
      if (waiting.aborted) throw new NoAnswer(`There was no answer within ${totalTimeoutMs / 1_000} s.`);
      throw new NoAnswer(`There was no answer: ${describe(error)}.`);
    } finally {
      socket?.destroy();
    }
  };
}

/** Dials the checked addresses and no others; the host's name stays the one that the certificate is for. */
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
    // Asked for names only: a literal is dialled as it was checked. Answered later: where dialling fails at once, as
    // without a route, the error would come before anybody listens for it.
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
    // Also between those who wait for something of it: an error that nobody listens for ends the process.
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket?.destroy();
    throw signal.aborted ? new Error('the connection took too long') : error;
  }
}

/** Node's own client, because it skips a `100 Continue` that was not asked for, as HTTP wants and undici does not. */
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
      // Without an error where the answer is that of another protocol.
      .on('close', () => reject(new Error('the connection was closed')))
      .end(body);
  });
}

/** The status has decided: a body that stalls or breaks off is taken as far as it came. */
async function readStart(body: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), BODY_TIMEOUT_MS);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= BODY_MAX_BYTES) break;
    }
  } catch {
    // As far as it came.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).subarray(0, BODY_MAX_BYTES);
}

/** Errors that were made here, and by the way out, have words and no code. */
function describe(error: unknown): string {
  const isOurs = error instanceof Error && error.constructor === Error && !('code' in error);
  return describeNetworkError(error, isOurs ? error.message : undefined);
}
