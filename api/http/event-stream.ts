// Server-Sent Events: what the streams of runs, of /step and of webhook listeners share.
import { Readable } from 'node:stream';
import { tellOutage } from '../../db/connection/database-outage.ts';
import { log } from '../../platform/observability/log.ts';
import { StreamInterruption } from './stream-interruption.ts';
import { writeJson } from './write-json.ts';

export const HEARTBEAT_MS = 15_000;
export const HEARTBEAT = ':\n\n';

type Heartbeat = {
  /** In how many milliseconds the next beat is due. */
  dueInMs(): number;
  /** Yields a beat when one is due. Throws StreamInterruption when the reader may no longer read. */
  beat(): AsyncGenerator<typeof HEARTBEAT, void>;
};

/** Creates the heartbeat of a stream that begins now; each beat looks whether its reader still `mayRead`. */
export function createHeartbeat(mayRead: () => Promise<boolean>, everyMs = HEARTBEAT_MS): Heartbeat {
  let beatAt = performance.now();
  const dueInMs = () => beatAt + everyMs - performance.now();
  return {
    dueInMs,
    async *beat() {
      if (dueInMs() > 0) return;
      if (!(await mayRead())) throw new StreamInterruption('unauthorized');
      yield HEARTBEAT;
      beatAt = performance.now();
    },
  };
}

/** Tells readers to reconnect one second after they lost the stream. */
export const RETRY = 'retry: 1000\n\n';

const PIECE_CHARS = 64 * 1024;
const HIGH_SURROGATE = /^[\uD800-\uDBFF]$/;

/** Formats one event, without an `id` where readers do not go on after it; `data` is sent as `writeJson` writes it. */
export function formatEvent(id: string | undefined, name: string, data: object): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${toLine(writeJson(data))}\n\n`;
}

/** Replaces line breaks, which would end the event, by spaces: outside its strings, JSON text may hold them. */
function toLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replaceAll(/[\r\n]/g, ' ') : json;
}

/** The headers of a stream that proxies do not buffer. */
export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/**
 * Makes the body of an answer of events. The next event is made only when the reader has taken the last one. When `events`
 * throws, the last event of the stream says why.
 */
export function createEventStream(executionId: string, events: AsyncGenerator<string>): Readable {
  const gone = () => stream.destroyed;
  const stream: Readable = Readable.from(endInWords(events, executionId, gone), { highWaterMark: 1 });
  return stream;
}

/** Cuts a text into pieces: no more than one piece waits for the reader outside this process. */
export function* cut(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + PIECE_CHARS;
    // Keeps the two halves of a surrogate pair together.
    if (HIGH_SURROGATE.test(text.charAt(end - 1))) end += 1;
    yield text.slice(start, end);
  }
}

/** Yields the events; when they end with an error, tells the reader why, so that they can go on with another request. */
async function* endInWords(
  events: AsyncGenerator<string>,
  executionId: string,
  gone: () => boolean,
): AsyncGenerator<string> {
  try {
    for await (const text of events) yield* cut(text);
  } catch (error) {
    if (gone()) return;
    if (!(error instanceof StreamInterruption) && !tellOutage(error))
      log.error({ execution_id: executionId, err: error }, 'A stream of events was ended.');
    const { reason, message } =
      error instanceof StreamInterruption ? error : new StreamInterruption('unavailable');
    const data = JSON.stringify({ executionId, reason, message });
    yield `event: stream_interrupted\ndata: ${data}\n\n`;
  }
}
