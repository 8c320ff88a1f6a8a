// Tells from the bytes of JSON text whether parsing it would take too long: a short text may hold millions of values, and
// parsing blocks the process.
import { BACKSLASH, BRACE, BRACKET, COLON, COMMA, QUOTE } from './json-bytes.ts';

/** The most values in one text: objects, arrays and their members. */
export const JSON_VALUES_MAX = 500_000;
/** The most different keys; equal keys, as in the rows of a table, cost little. */
export const JSON_KEYS_MAX = 100_000;

/** Bits of the table of seen keys; two keys with the same hash count as one. */
const TABLE_BITS = 22;

/**
 * Returns why a text is too large to parse, in words that follow its name; undefined when it may be parsed. The text need
 * not be valid JSON. Reads each byte once, and none beyond the limit.
 */
export function findJsonExcess(bytes: Uint8Array): string | undefined {
  let seen: Uint8Array | undefined;
  let values = 0;
  let keys = 0;
  let hash = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      hash = 0;
      for (index += 1; index < bytes.length && bytes[index] !== QUOTE; index += 1) {
        if (bytes[index] === BACKSLASH) index += 1;
        hash = (Math.imul(hash, 31) + (bytes[index] as number)) | 0;
      }
    } else if (byte === COLON) {
      seen ??= new Uint8Array(2 ** (TABLE_BITS - 3));
      const place = Math.imul(hash, 0x9e3779b1) >>> (32 - TABLE_BITS);
      const bit = 1 << (place & 7);
      const cell = seen[place >>> 3] as number;
      if ((cell & bit) === 0) {
        seen[place >>> 3] = cell | bit;
        keys += 1;
        if (keys > JSON_KEYS_MAX) return `has more than ${JSON_KEYS_MAX} different keys`;
      }
    } else if (byte === COMMA || byte === BRACKET || byte === BRACE) {
      values += 1;
      if (values > JSON_VALUES_MAX) return `holds more than ${JSON_VALUES_MAX} values`;
    }
  }
  return undefined;
}
