// Receives request bodies: only JSON, bounded, under permits for their bytes that organizations share fairly.
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { ServiceError } from '../../flow/errors.ts';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { type HttpGates, SMALL_BYTES } from '../../platform/limits/gates.ts';
import type { ReceivedBody } from './context.ts';
import { ownerOf } from './principal.ts';
import { readerSignal } from './reader-signal.ts';
import { releaseAtClose, reserveBytes } from './reserve-bytes.ts';

/**
 * Fits a paused run that is sent back whole: outputs (4 MiB), conversation (1 MiB), whose last calls are in
 * `toolCalls` too (1 MiB), tools (1.75 MiB) and the receipt.
 */
export const BODY_MAX_BYTES = 8 * 1024 * 1024;

export type BodyDeps = { gates: Pick<HttpGates, 'bodies'>; largeValues: Pick<LargeValues, 'json'> };

/**
 * Receives the body of a request under a permit for its bytes, until the response is closed or `ctx.state.releaseBody` is called.
 * Throws the problem of the body, or RATE_LIMITED when the permit does not come in time.
 */
export async function receive({ gates }: Pick<BodyDeps, 'gates'>, ctx: Context): Promise<ReceivedBody> {
  requireJson(ctx.get('content-type'), ctx.get('content-encoding').toLowerCase());
  const length = ctx.get('content-length');
  if (Number(length) > BODY_MAX_BYTES) throw bodyTooLarge();
  const { flow, principal } = ctx.state;
  const owner: string = flow?.organizationId ?? (principal ? ownerOf(principal) : '');
  const announced = announcedBytes(length);
  // Only a body that needs a permit waits, and can outlive its caller.
  const gone = announced < SMALL_BYTES ? undefined : readerSignal(ctx.res);
  const { release } = await reserveBytes(gates.bodies, owner, announced, gone);
  ctx.state.releaseBody = () => {
    ctx.state.body = undefined;
    ctx.state.received = undefined;
    release();
  };
  if (gone) releaseAtClose(ctx.res, release);
  try {
    return { owner, bytes: await readBytes(ctx.req, length) };
  } catch (error) {
    release();
    throw error;
  }
}

/** Returns the announced length of the body, or the maximum without one. */
function announcedBytes(length: string): number {
  return length === '' ? BODY_MAX_BYTES : Math.min(Number(length) || 0, BODY_MAX_BYTES);
}

/** Throws UNSUPPORTED_MEDIA_TYPE unless the headers announce uncompressed JSON in UTF-8. */
export function requireJson(contentType: string, contentEncoding: string): void {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const utf8 = charset === undefined || ['utf-8', 'utf8'].includes(charset.slice(8).replaceAll('"', ''));
  if (type.trim() !== 'application/json' || !utf8)
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body as Content-Type: application/json, in UTF-8.',
    );
  if (contentEncoding !== '' && contentEncoding !== 'identity')
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a Content-Encoding.');
}

export function bodyTooLarge(): ServiceError {
  return new ServiceError('BODY_TOO_LARGE', `The body is over ${BODY_MAX_BYTES} bytes.`);
}

function bodyCutOff(): ServiceError {
  return new ServiceError('MALFORMED_JSON', 'The body ended before its announced length.');
}

async function readBytes(request: IncomingMessage, length: string): Promise<Buffer> {
  if (!request.readable) throw bodyCutOff();
  // Copied, because 1 MB in chunks of one byte would take 544 MB.
  let body = Buffer.allocUnsafe(length === '' ? SMALL_BYTES : announcedBytes(length));
  let used = 0;
  let resuming: NodeJS.Immediate | undefined;
  const { promise: ended, resolve: end } = Promise.withResolvers<(() => ServiceError) | undefined>();
  // `close` follows the end, too: the error, with its stack, is made only when thrown.
  const fail = () => end(bodyCutOff);
  function add(chunk: Buffer): void {
    const after = used + chunk.length;
    if (after > BODY_MAX_BYTES) {
      end(bodyTooLarge);
      return;
    }
    if (after > body.length) body = Buffer.concat([body], Math.min(2 * after, BODY_MAX_BYTES));
    used += chunk.copy(body, used);
    if (used < SMALL_BYTES) return;
    // Otherwise one tick of the event loop would read megabytes from each of many connections.
    request.pause();
    resuming = setImmediate(() => request.resume());
  }
  request.on('error', fail).on('close', fail).on('end', end).on('data', add);
  try {
    const refused = await ended;
    if (refused) throw refused();
    return body.subarray(0, used);
  } finally {
    clearImmediate(resuming);
    request.off('data', add).off('end', end).off('close', fail).off('error', fail).pause();
  }
}
