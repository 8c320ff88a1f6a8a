// Tells from the bytes of JSON text how long parsing it would take, and whether too long: a short text may hold millions of
// values, and parsing blocks the process.
import { BRACE, BRACKET, COLON, COMMA, findStringEnd, QUOTE } from './scan-json.ts';

/** The most values that code or a model may answer: objects, arrays and their members. */
export const JSON_VALUES_MAX = 500_000;
/** The most different keys; equal keys, as in the rows of a table, cost little. */
export const JSON_KEYS_MAX = 100_000;
/** A value counts as so many bytes at least where a size is bounded: see `weigh`. */
const VALUE_BYTES = 12;
/** A text of so many bytes may have one different key more. */
const KEY_BYTES = 64;

/** The table of seen keys has eight to sixteen bits for each byte, up to this; two keys with the same hash count as one. */
const TABLE_BITS_MAX = 2 ** 22;
const NOTHING = { start: 0, end: 0 };

/**
 * `keys`: the different ones. `excess`: why the text is too large to parse, in words that follow its name; it is counted up to
 * there.
 */
export type JsonMeasure = { values: number; keys: number; excess?: string };

/** The most that a text may hold of each. */
export type JsonMost = { values: number; keys: number };
const MOST: JsonMost = { values: JSON_VALUES_MAX, keys: JSON_KEYS_MAX };
const ANY: JsonMost = { values: Number.POSITIVE_INFINITY, keys: Number.POSITIVE_INFINITY };

/** Returns the most values and different keys that are read of a text of `bytes`. */
export function mostOf(bytes: number): JsonMost {
  return { values: Math.floor(bytes / VALUE_BYTES), keys: Math.floor(bytes / KEY_BYTES) };
}

/**
 * Returns the size of JSON text, or more where it holds many small values. Whatever is put together of texts holds no more values
 * than `mostOf` what they weigh together, but for one for each text. Keys do not count: many texts may have the same. `counted`:
 * how many values it has, where that is known.
 */
export function weigh(text: string | Uint8Array, counted?: number): number {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const values = counted ?? measureJson(bytes, ANY).values;
  return Math.max(bytes.length, values * VALUE_BYTES);
}

/**
 * Counts the values and keys of a text, which may be parsed unless there is an `excess`. The text need not be valid JSON. Reads
 * each byte at most twice, and none beyond the limit.
 */
export function measureJson(bytes: Uint8Array, most = MOST): JsonMeasure {
  const tableBits = Math.min(TABLE_BITS_MAX, 2 ** (35 - Math.clz32(bytes.length)));
  const shift = Math.clz32(tableBits) + 1;
  let seen: Uint8Array | undefined;
  let values = 0;
  let keys = 0;
  let string = NOTHING;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      string = { start: index + 1, end: findStringEnd(bytes, index + 1) };
      index = string.end;
    } else if (byte === COLON) {
      seen ??= new Uint8Array(tableBits / 8);
      const place = Math.imul(hash(bytes, string), 0x9e3779b1) >>> shift;
      // Each string is read once more, even where many colons follow it.
      string = NOTHING;
      const bit = 1 << (place & 7);
      const cell = seen[place >>> 3] as number;
      if ((cell & bit) === 0) {
        seen[place >>> 3] = cell | bit;
        keys += 1;
        if (keys > most.keys) return { values, keys, excess: `has more than ${most.keys} different keys` };
      }
    } else if (byte === COMMA || byte === BRACKET || byte === BRACE) {
      values += 1;
      if (values > most.values) return { values, keys, excess: `holds more than ${most.values} values` };
    }
  }
  return { values, keys };
}

function hash(bytes: Uint8Array, { start, end }: typeof NOTHING): number {
  let sum = 0;
  for (let index = start; index < end; index += 1) sum = (Math.imul(sum, 31) + (bytes[index] as number)) | 0;
  return sum;
}
