import type { Json } from '../flow/definition.ts';

const EXCERPT_MAX_LENGTH = 300;

/** Writes the beginning of a value as JSON, and nothing of the rest, which may be long. */
export function excerpt(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = write(value, EXCERPT_MAX_LENGTH);
  return text.length > EXCERPT_MAX_LENGTH ? `${text.slice(0, EXCERPT_MAX_LENGTH)}…` : text;
}

/** Writes a value whose JSON has at most `max` characters; of a longer one, more than `max`, of which the first `max` are right. */
function write(value: Json, max: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, max));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key of isList ? value.keys() : Object.keys(value)) {
    if (text.length > max) break;
    if (text.length > 1) text += ',';
    if (typeof key === 'string') text += `${write(key, max)}:`;
    text += write((value as { [key: string | number]: Json })[key] as Json, max);
  }
  return text + (isList ? ']' : '}');
}
