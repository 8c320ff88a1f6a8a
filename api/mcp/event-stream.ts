// The event streams of the MCP SDK, in the form of our other streams.

import { escapeLineEnds } from '../../platform/json-text/escape-line-ends.ts';
import { HEARTBEAT } from '../http/event-stream.ts';

/** A comment with the empty line after it, which some readers take for an event without data. */
const COMMENT = /^:.*\n\n/gm;

/** Rewrites a stream so that common readers of lines split it only where an event ends. */
export function forLineReaders(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return stream
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(
      new TransformStream<string, string>({
        transform: (text, out) => out.enqueue(escapeLineEnds(text).replace(COMMENT, HEARTBEAT)),
      }),
    )
    .pipeThrough(new TextEncoderStream());
}
