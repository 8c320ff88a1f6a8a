// The work on large JSON texts and code that the thread does: pure functions from bytes to small answers and bytes.

import { OUTPUT_MAX_BYTES } from '../../flow/limits.ts';
import { type CodeFindings, readCode } from '../javascript/read-code.ts';
import { type JsonMeasure, type JsonMost, measureJson } from '../json-text/measure-json.ts';
import { findMember } from '../json-text/scan-json.ts';

/** The measure of a text and, where that is too large to parse, of a member of it; absent when not there. */
export type Measure = JsonMeasure & { member?: { bytes: number; excess?: string | undefined } };

/** All that a task needs to know besides the text. */
export type TaskOptions = { member?: string | undefined; most?: JsonMost; asText?: boolean };

/**
 * A chat completion without what nobody reads. `content`: a long text of it as JSON, which is left out of `answer`; of one that
 * is longer than any output may be, only `tooLong`, its number of characters.
 */
export type Completion = { answer: unknown; content?: Uint8Array<ArrayBuffer>; tooLong?: number };

export const TASKS = {
  /** Measures a JSON text, and the outermost member of this name where the text is too large to parse. */
  measure(json: Uint8Array, { member, most }: TaskOptions): Measure {
    const measured = measureJson(json, most);
    const found = measured.excess && member !== undefined ? findMember(json, member) : undefined;
    return {
      ...measured,
      ...(found && { member: { bytes: found.length, excess: measureJson(found).excess } }),
    };
  },

  /** Measures a JSON text and parses it where that is allowed. Throws SyntaxError. */
  check(json: Uint8Array): Measure {
    const measured = measureJson(json);
    if (!measured.excess) JSON.parse(textOf(json));
    return measured;
  },

  /** Parses a chat completion; `asText` leaves its text in. Throws SyntaxError. */
  readCompletion(json: Uint8Array, { asText = false }: TaskOptions): Completion {
    const answer: unknown = JSON.parse(textOf(json));
    if (typeof answer !== 'object' || answer === null) return { answer };
    const { id, model, choices, usage, error } = answer as Record<string, unknown>;
    const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const message = (first as { message?: { content?: unknown } } | undefined)?.message;
    const read = { id, model, choices: first === undefined ? choices : [first], usage, error };
    if (asText || typeof message?.content !== 'string' || message.content.length < LEFT_IN_MAX_LENGTH)
      return { answer: read };
    const text = message.content;
    message.content = '';
    if (text.length > OUTPUT_MAX_BYTES) return { answer: read, tooLong: text.length };
    return { answer: read, content: new TextEncoder().encode(JSON.stringify(text)) };
  },

  /** Reads the source of a code block. */
  readCode(source: Uint8Array): CodeFindings {
    return readCode(textOf(source));
  },
};

/** A shorter text costs less than what goes on around it. */
const LEFT_IN_MAX_LENGTH = 256 * 1024;

function textOf(json: Uint8Array): string {
  return Buffer.from(json.buffer, json.byteOffset, json.length).toString();
}
