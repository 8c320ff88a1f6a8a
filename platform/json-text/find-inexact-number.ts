import { findStringEnd } from './find-string-end.ts';
import { QUOTE } from './json-bytes.ts';

const [ZERO, NINE] = [0x30, 0x39];
const [MINUS, PLUS, POINT, LOWER_E, UPPER_E] = [0x2d, 0x2b, 0x2e, 0x65, 0x45];
/** A whole number with fewer digits is always below 2^53. */
const LONG_DIGITS = 16;
/** The digits of a longer number that are shown; a number with more than 21 digits is never kept. */
const SHOWN_MAX = 40;

/**
 * Returns the first whole number whose digits a JavaScript number does not keep, as it is written; only the beginning of a
 * very long one. Undefined when there is none. A number with a fraction or an exponent is not a whole one. The text need not
 * be valid JSON.
 */
export function findInexactNumber(bytes: Uint8Array): string | undefined {
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) index = findStringEnd(bytes, index + 1);
    else if (isDigit(byte)) {
      const start = index;
      while (isDigit(bytes[index + 1])) index += 1;
      if (isPartOfNumber(bytes[index + 1])) while (isPartOfNumber(bytes[index + 1])) index += 1;
      else if (index - start + 1 >= LONG_DIGITS) {
        const digits = String.fromCharCode(...bytes.subarray(start, Math.min(index + 1, start + SHOWN_MAX)));
        if (String(Number(digits)) !== digits) return bytes[start - 1] === MINUS ? `-${digits}` : digits;
      }
    }
  }
  return undefined;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function isPartOfNumber(byte: number | undefined): boolean {
  return (
    isDigit(byte) || byte === POINT || byte === LOWER_E || byte === UPPER_E || byte === PLUS || byte === MINUS
  );
}
