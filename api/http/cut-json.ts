import type { Json } from '../../flow/definition.ts';

/** The most characters of JSON of one value in an answer: an assistant's context is small. */
export const VALUE_MAX_CHARS = 4_096;
/** The most characters of all values of an answer together. */
const ANSWER_MAX_CHARS = 120_000;
const VALUE_MIN_CHARS = 200;

/** Answers a value as it is or, when its JSON is too long, the beginning of that as text. */
export function cutJson(value: Json, maxChars: number): Json {
  const text = JSON.stringify(value);
  return text.length <= maxChars ? value : cutText(text, maxChars, text.length);
}

/** Cuts a text, which says how many of its `length` characters it has then. */
export function cutText(text: string, maxChars: number, length = text.length): string {
  if (length <= maxChars) return text;
  // A copy, well formed: a slice would keep the whole text in memory.
  const beginning = Buffer.from(text.slice(0, maxChars)).toString();
  return `${beginning}… [cut: ${maxChars} of ${length} characters]`;
}

/** Computes how many characters each of `count` values may have, at most `maxChars`. */
export function shareOf(count: number, maxChars: number): number {
  const share = Math.floor(ANSWER_MAX_CHARS / Math.max(1, count));
  return Math.min(maxChars, Math.max(VALUE_MIN_CHARS, share));
}
