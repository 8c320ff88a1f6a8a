// Server-Sent Events: what the streams of runs and of /step have in common.
import { Readable } from 'node:stream';
import { findRole } from '../../db/tenants/memberships.ts';
import { isUsable } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext } from '../http/context.ts';
import { StreamInterruption } from '../http/stream-interruption.ts';

export const HEARTBEAT_MS = 15_000;
export const HEARTBEAT = ':\n\n';
/** After how long a reader that lost the stream asks again. */
export const RETRY = 'retry: 1000\n\n';

const PIECE_CHARS = 64 * 1024;
const HIGH_SURROGATE = /^[\uD800-\uDBFF]$/;

/** One event; `data` is sent as JSON. */
export function formatEvent(id: string, name: string, data: object): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Aborted when the reader is gone, or `ending` is. */
export function readerSignal(ctx: ApiContext, ending: AbortSignal | undefined): AbortSignal {
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  return ending ? AbortSignal.any([gone.signal, ending]) : gone.signal;
}

/** Whether the caller may still read what it asked for. */
export async function mayRead({ db, apiKeys }: ApiDeps, ctx: ApiContext): Promise<boolean> {
  const { principal, flow } = ctx.state;
  if (principal.kind === 'key') return isUsable(await apiKeys.find(principal.key.key_id));
  if (principal.expiresAt.getTime() <= Date.now()) return false;
  return (await findRole(db, flow.organizationId, principal.userId)) !== undefined;
}

/**
 * Answers with a stream that no proxy holds back; nothing is made for a reader who does not take what there is. A
 * stream whose `events` throw, StreamInterruption or anything else, says so in its last event.
 */
export function answerEvents(ctx: ApiContext, executionId: string, events: AsyncGenerator<string>): void {
  ctx.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  });
  const gone = () => stream.destroyed;
  const stream: Readable = Readable.from(endInWords(events, executionId, gone), { highWaterMark: 1 });
  ctx.body = stream;
}

/** In pieces, so that what its reader takes can be told, and no more than a piece waits for them outside this process. */
export function* cut(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + PIECE_CHARS;
    // The two halves of a character are written together.
    if (HIGH_SURROGATE.test(text.charAt(end - 1))) end += 1;
    yield text.slice(start, end);
  }
}

/** A stream that ends is asked for again, and goes on where it was. */
async function* endInWords(
  events: AsyncGenerator<string>,
  executionId: string,
  gone: () => boolean,
): AsyncGenerator<string> {
  try {
    for await (const text of events) yield* cut(text);
  } catch (error) {
    if (gone()) return;
    if (!(error instanceof StreamInterruption)) console.error(`A stream of events was ended: ${error}`);
    const { reason, message } =
      error instanceof StreamInterruption ? error : new StreamInterruption('unavailable');
    const data = JSON.stringify({ executionId, reason, message });
    yield `event: stream_interrupted\ndata: ${data}\n\n`;
  }
}
