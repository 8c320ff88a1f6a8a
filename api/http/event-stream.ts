// Server-Sent Events: what the streams of runs, of /step and of webhook listeners share.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { logOutage } from '../../db/connection/database-errors.ts';
import { escapeLineEnds } from '../../platform/json-text/escape-line-ends.ts';
import { log } from '../../platform/observability/log.ts';
import { writeJson } from './write-json.ts';

const INTERRUPTIONS = {
  stopping: 'This process is stopping; the run continues. Reconnect with Last-Event-ID for later events.',
  unavailable: 'Later events cannot be read now; the run continues. Reconnect with Last-Event-ID.',
  unauthorized: 'The API key, token or membership of this request is no longer valid; the run continues.',
};

/** Ends a stream with a reason. */
export class StreamInterruption extends Error {
  readonly reason: keyof typeof INTERRUPTIONS;
  constructor(reason: keyof typeof INTERRUPTIONS) {
    super(INTERRUPTIONS[reason]);
    this.reason = reason;
  }
}

/** The `data` of `stream_interrupted`. The event has no `id`, so that clients resume after the event before it. */
export const streamInterrupted = z
  .object({
    executionId: z.uuid(),
    reason: z.enum(Object.keys(INTERRUPTIONS) as (keyof typeof INTERRUPTIONS)[]),
    message: z.string(),
  })
  .meta({
    id: 'StreamInterrupted',
    description:
      'stream_interrupted: the stream ends, and the run continues. The event has no `id`. Reconnect with the last `id` you received as Last-Event-ID; after `unauthorized`, use a valid key.',
  });

export const HEARTBEAT_MS = 15_000;
/** A comment. Without an empty line after it: some readers would take that for the end of an event without data. */
export const HEARTBEAT = ':\n';

type Heartbeat = {
  /** Milliseconds until the next heartbeat is due. */
  dueInMs(): number;
  /** Yields a heartbeat when one is due. Throws StreamInterruption when the client has lost access. */
  beat(): AsyncGenerator<typeof HEARTBEAT, void>;
};

/** Creates the heartbeat of a stream that begins now. Each heartbeat checks `mayRead`. */
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

/** Makes clients reconnect one second after they lost the stream. A field of the first event, for the same reason. */
export const RETRY = 'retry: 1000\n';

const PIECE_CHARS = 64 * 1024;
const HIGH_SURROGATE = /^[\uD800-\uDBFF]$/;

/** Formats one event. Without an `id`, clients cannot resume after it. `data` is written by `writeJson`. */
export function formatEvent(id: string | undefined, name: string, data: object): string {
  // A line break would end the event. JSON text may have \r and \n between tokens.
  const line = escapeLineEnds(writeJson(data).replaceAll(/[\r\n]/g, ' '));
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${line}\n\n`;
}

/** The headers of a stream, with buffering by proxies turned off. */
export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/**
 * Creates the body of an event stream. Makes the next event only after the client has taken the last one. When
 * `events` throws, the last event of the stream gives the reason.
 */
export function createEventStream(executionId: string, events: AsyncGenerator<string>): Readable {
  const gone = () => stream.destroyed;
  const stream: Readable = Readable.from(endInWords(events, executionId, gone), { highWaterMark: 1 });
  return stream;
}

/** Cuts a text into pieces, so that no more than one piece is buffered outside this process. */
export function* cut(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + PIECE_CHARS;
    // Keeps surrogate pairs together.
    if (HIGH_SURROGATE.test(text.charAt(end - 1))) end += 1;
    yield text.slice(start, end);
  }
}

/**
 * Yields the events. After an error, yields an event with the reason, so that the client can resume with another
 * request.
 */
async function* endInWords(
  events: AsyncGenerator<string>,
  executionId: string,
  gone: () => boolean,
): AsyncGenerator<string> {
  try {
    for await (const text of events) yield* cut(text);
  } catch (error) {
    if (gone()) return;
    if (!(error instanceof StreamInterruption) && !logOutage(error))
      log.error({ execution_id: executionId, err: error }, 'A stream of events was ended.');
    const { reason, message } =
      error instanceof StreamInterruption ? error : new StreamInterruption('unavailable');
    const data = JSON.stringify({ executionId, reason, message });
    yield `event: stream_interrupted\ndata: ${data}\n\n`;
  }
}
