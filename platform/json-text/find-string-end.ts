// Searches JSON text byte by byte, without parsing it.
import { BACKSLASH, QUOTE } from './json-bytes.ts';

/** A string with this many plain bytes in a row is long: a native search is faster than a loop from there on. */
const LONG_BYTES = 64;

/** Finds the quote that ends a string of JSON text, from the index after its first quote; the text's length if none does. */
export function findStringEnd(json: Uint8Array, start: number): number {
  let plain = 0;
  for (let index = start; index < json.length; index += 1) {
    if (json[index] === QUOTE) return index;
    if (json[index] === BACKSLASH) {
      index += 1;
      plain = 0;
    } else if (++plain > LONG_BYTES) {
      const quote = json.indexOf(QUOTE, index);
      if (quote === -1) return json.length;
      if (!isEscaped(json, index, quote)) return quote;
      index = quote;
      plain = 0;
    }
  }
  return json.length;
}

/** Whether an odd number of backslashes, none of them before `start`, precedes a byte. */
function isEscaped(json: Uint8Array, start: number, index: number): boolean {
  let before = index;
  while (before > start && json[before - 1] === BACKSLASH) before -= 1;
  return (index - before) % 2 === 1;
}
