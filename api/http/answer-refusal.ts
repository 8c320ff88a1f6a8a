import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context } from 'koa';

/** Bytes of a refused body that are read on and discarded; it has the time of a request to arrive. */
export const DISCARD_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Answers with an error as JSON. When the request body is still arriving, answers at once and discards the rest
 * before closing: a client that sends everything before it reads would otherwise lose the response.
 */
export function answerRefusal(ctx: Context, body: object): void {
  if (!isArriving(ctx.req)) {
    ctx.body = body;
    return;
  }
  const text = JSON.stringify(body);
  ctx.set('Connection', 'close');
  ctx.body = Readable.from(sendThenDiscard(ctx.req, text));
  ctx.type = 'json';
  ctx.length = Buffer.byteLength(text);
}

function isArriving({ complete, destroyed, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && !complete && !destroyed;
}

async function* sendThenDiscard(request: IncomingMessage, text: string): AsyncGenerator<string> {
  yield text;
  if (request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    let left = DISCARD_MAX_BYTES;
    for (const event of ['end', 'close', 'error']) request.once(event, () => resolve());
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) resolve();
    });
    request.resume();
  });
}
