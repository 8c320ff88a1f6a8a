// Searches JSON text byte by byte, without parsing it.

const [ZERO, NINE] = [0x30, 0x39];
const [MINUS, PLUS, POINT, LOWER_E, UPPER_E] = [0x2d, 0x2b, 0x2e, 0x65, 0x45];

/** A whole number with fewer digits is always below 2^53. */
const LONG_DIGITS = 16;

/** The digits of a longer number that are shown; a number with more than 21 digits is never kept. */
const SHOWN_MAX = 40;
/** The keys of a path that are shown. */
const PATH_KEYS_MAX = 100;

const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);

// The bytes that structure JSON text.
export const QUOTE = 0x22;
export const COMMA = 0x2c;

export const COLON = 0x3a;
export const BRACKET = 0x5b;

const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;

export const BRACE = 0x7b;
const BRACE_END = 0x7d;

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

/** Finds the unparsed text of a member's value in the outermost object of a JSON text; undefined when there is none. */
export function findMember(json: Uint8Array, name: string): Uint8Array | undefined {
  const key = Buffer.from(JSON.stringify(name));
  // A native search, far faster than looking at each byte.
  if (!Buffer.from(json.buffer, json.byteOffset, json.length).includes(key)) return undefined;
  let start: number | undefined;
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) {
      const quote = index;
      index = findStringEnd(json, quote + 1);
      if (depth !== 1 || start !== undefined || !key.equals(json.subarray(quote, index + 1))) continue;
      while (SPACES.has(json[index + 1] as number)) index += 1;
      if (json[index + 1] === COLON) start = index + 2;
    } else if (byte === BRACKET || byte === BRACE) depth += 1;
    else if (byte === BRACKET_END || byte === BRACE_END) depth -= 1;
    const isPast = depth === 0 || (depth === 1 && byte === COMMA);
    if (isPast && start !== undefined) return json.subarray(start, index);
  }
  return start === undefined ? undefined : json.subarray(start);
}

/** A number of a JSON text as it is written, or its beginning, and the keys and indices that lead there. */
export type InexactNumber = { digits: string; path: string[] };

/**
 * Finds the first whole number whose digits a JavaScript number does not keep, also one written like `1.0` or `1e3`; undefined when
 * there is none. The text need not be valid JSON: where it is not, the path may be wrong.
 */
export function findInexactNumber(bytes: Uint8Array): InexactNumber | undefined {
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) index = findStringEnd(bytes, index + 1);
    else if (isDigit(byte)) {
      const start = index;
      while (isDigit(bytes[index + 1])) index += 1;
      const isInteger = !isPartOfNumber(bytes[index + 1]);
      while (isPartOfNumber(bytes[index + 1])) index += 1;
      if (index - start + 1 < LONG_DIGITS) continue;
      const text = Buffer.from(bytes.subarray(start, index + 1)).toString('latin1');
      if (isInteger ? String(Number(text)) === text : isKept(text)) continue;
      const digits = text.slice(0, SHOWN_MAX);
      return { digits: bytes[start - 1] === MINUS ? `-${digits}` : digits, path: pathAt(bytes, start) };
    }
  }
  return undefined;
}

/** Whether a number with a fraction or an exponent is no whole number, or keeps its digits, or is too large to be one. */
function isKept(text: string): boolean {
  const written = toWhole(text);
  return written === undefined || !Number.isFinite(Number(text)) || toWhole(String(Number(text))) === written;
}

/** Writes a whole number as its digits without zeros at either end, and its power of ten; undefined for another number. */
function toWhole(text: string): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (digits[end - 1] === '0') end -= 1;
  while (start < end && digits[start] === '0') start += 1;
  const power = Number(exponent) - fraction.length + digits.length - end;
  if (start === end) return '0';
  return power < 0 ? undefined : `${digits.slice(start, end)}e${power}`;
}

/** Returns the keys and indices, at most PATH_KEYS_MAX, that lead to an offset of a JSON text. */
function pathAt(bytes: Uint8Array, offset: number): string[] {
  const path: (string | number)[] = [];
  let string = { start: 0, end: 0 };
  for (let index = 0; index < offset; index += 1) {
    const byte = bytes[index];
    const last = path.length - 1;
    const inside = path[last];
    if (byte === QUOTE) {
      string = { start: index, end: findStringEnd(bytes, index + 1) };
      index = string.end;
    } else if (byte === BRACE) path.push('');
    else if (byte === BRACKET) path.push(0);
    else if (byte === BRACE_END || byte === BRACKET_END) path.pop();
    else if (byte === COLON && inside !== undefined)
      path[last] = keyOf(bytes.subarray(string.start, string.end + 1));
    else if (byte === COMMA && typeof inside === 'number') path[last] = inside + 1;
  }
  return path.slice(0, PATH_KEYS_MAX).map(String);
}

function keyOf(quoted: Uint8Array): string {
  const text = Buffer.from(quoted).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function isPartOfNumber(byte: number | undefined): boolean {
  return (
    isDigit(byte) || byte === POINT || byte === LOWER_E || byte === UPPER_E || byte === PLUS || byte === MINUS
  );
}

/**
 * Whether a value parsed from JSON, whose depth is bounded, has a number that was too large for JavaScript, such as 1e400:
 * written again, it would be null.
 */
export function hasInfiniteNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfiniteNumber);
}
