// JSON responses that contain JSON text, and values cut to a length.

import type { Json } from '../../flow/definition.ts';
import type { ApiContext } from './context.ts';

/** Maximum JSON characters of one value: an assistant's context is small. */
export const VALUE_MAX_CHARS = 4_096;

/** Maximum JSON characters of all values in one response. */
const ANSWER_MAX_CHARS = 120_000;
const VALUE_MIN_CHARS = 200;

/** JSON text that is written unchanged. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Writes an object as JSON. The object or its direct members may be JsonText. */
export function writeJson(object: object): string {
  if (object instanceof JsonText) return object.text;
  const members = Object.entries(object).map(([name, value]: [string, unknown]) => {
    const text = value instanceof JsonText ? value.text : JSON.stringify(value);
    return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.filter((member) => member !== undefined).join(',')}}`;
}

/**
 * Answers with an object as JSON. Sent as bytes: of a text, the server would count the bytes before it encodes them.
 */
export function answerJson({ response }: Pick<ApiContext, 'response'>, object: object): void {
  response.type = 'json';
  response.body = Buffer.from(writeJson(object));
}

/** Returns a value unchanged or, when its JSON is too long, the beginning of the JSON as text. */
export function cutJson(value: Json, maxChars: number): Json {
  const text = JSON.stringify(value);
  return text.length <= maxChars ? value : cutText(text, maxChars, text.length);
}

/** Cuts a text and appends its full `length` in characters. */
export function cutText(text: string, maxChars: number, length = text.length): string {
  if (length <= maxChars) return text;
  // A copy, well formed: a slice would keep the whole text in memory.
  const beginning = Buffer.from(text.slice(0, maxChars)).toString();
  return `${beginning}… [cut: ${maxChars} of ${length} characters]`;
}

/** Returns the number of characters for each of `count` values, at most `maxChars`. */
export function shareOf(count: number, maxChars: number): number {
  const share = Math.floor(ANSWER_MAX_CHARS / Math.max(1, count));
  return Math.min(maxChars, Math.max(VALUE_MIN_CHARS, share));
}
