// Receives request bodies: only JSON, bounded, in a memory budget that organizations share fairly.
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { ServiceError } from '../../flow/errors.ts';
import { createByteCollector } from '../../platform/large-values/byte-collector.ts';
import { freeBytes } from '../../platform/large-values/free-bytes.ts';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { SMALL_BYTES } from '../../platform/limits/byte-budget.ts';
import type { ReceivedBody } from './context.ts';
import { ownerOf } from './principal.ts';
import { takeBytes } from './take-bytes.ts';

/**
 * Fits a paused run that is sent back whole: outputs (8 MiB), conversation (1 MiB), whose last calls are in
 * `toolCalls` too, tools (1.3 MiB) and the receipt.
 */
export const BODY_MAX_BYTES = 12 * 1024 * 1024;

export type BodyDeps = { largeValues: LargeValues };

/**
 * Receives the body of a request. Throws the problem of the body, or RATE_LIMITED if no memory is free in time.
 */
export async function receive({ largeValues }: BodyDeps, ctx: Context): Promise<ReceivedBody> {
  requireJson(ctx.get('content-type'), ctx.get('content-encoding').toLowerCase());
  const length = ctx.get('content-length');
  if (Number(length) > BODY_MAX_BYTES) throw bodyTooLarge();
  const { flow, principal } = ctx.state;
  const owner: string = flow?.organizationId ?? (principal ? ownerOf(principal) : '');
  const giveBack = await takeBytes(largeValues.bodies, owner, announcedBytes(length));
  try {
    const bytes = await readBytes(ctx.req, length);
    const free = () => {
      freeBytes(bytes);
      giveBack();
    };
    return { owner, bytes, giveBack: free };
  } catch (error) {
    giveBack();
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
  const body = createByteCollector(length === '' ? undefined : announcedBytes(length));
  let resuming: NodeJS.Immediate | undefined;
  const { promise: ended, resolve: end } = Promise.withResolvers<(() => ServiceError) | undefined>();
  // `close` follows the end, too: the error, with its stack, is made only when thrown.
  const fail = () => end(bodyCutOff);
  function add(chunk: Buffer): void {
    if (body.length + chunk.length <= BODY_MAX_BYTES) body.add(chunk);
    else end(bodyTooLarge);
    if (body.length < SMALL_BYTES) return;
    // Otherwise one tick of the event loop would read megabytes from each of many connections.
    request.pause();
    resuming = setImmediate(() => request.resume());
  }
  request.on('error', fail).on('close', fail).on('end', end).on('data', add);
  try {
    const refused = await ended;
    if (refused) throw refused();
    return body.take();
  } finally {
    clearImmediate(resuming);
    request.off('data', add).off('end', end).off('close', fail).off('error', fail).pause();
  }
}
