import type { Json } from '../../flow/definition.ts';

/** Characters of JSON of one value that an answer holds; an assistant's context is small. */
export const VALUE_MAX_CHARS = 4_096;
/** Of all values of one answer together. */
const ANSWER_MAX_CHARS = 120_000;
const VALUE_MIN_CHARS = 200;

/** The value, or of a longer one the beginning of its JSON as text, with how long that is. */
export function cutJson(value: Json, maxChars: number): Json {
  const text = JSON.stringify(value);
  return text.length <= maxChars ? value : cutText(text, maxChars, text.length);
}

/** The beginning of a text of `length` characters. */
export function cutText(text: string, maxChars: number, length = text.length): string {
  if (length <= maxChars) return text;
  return `${text.slice(0, maxChars).toWellFormed()}… [cut: ${maxChars} of ${length} characters]`;
}

/** What each of `count` values may have. */
export function shareOf(count: number, maxChars: number): number {
  const share = Math.floor(ANSWER_MAX_CHARS / Math.max(1, count));
  return Math.min(maxChars, Math.max(VALUE_MIN_CHARS, share));
}
