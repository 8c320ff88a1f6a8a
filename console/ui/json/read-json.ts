// Reads JSON that users typed.

/** A JSON string or a JSON number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** A whole number with fewer digits is always below 2^53. */
const LONG_DIGITS = 16;
const SHOWN_MAX = 40;

/**
 * Returns a sentence about the first number in a JSON text that parsing would change: an integer that would lose
 * digits, or a number that is too large. Undefined when there is none.
 */
export function findChangedNumber(text: string): string | undefined {
  for (const [token] of text.matchAll(TOKEN)) {
    if (Math.abs(Number(token)) === Number.POSITIVE_INFINITY)
      return `${token.slice(0, SHOWN_MAX)} is too large a number: write it as text, in quotes.`;
    if (isRounded(token))
      return `The digits of ${token.slice(0, SHOWN_MAX)} would be changed: write it as text, in quotes.`;
  }
  return undefined;
}

/** Whether a JSON number is whole and would lose digits, also one written like `1.0` or `1e3`. */
function isRounded(token: string): boolean {
  if (/^-?\d+$/.test(token)) return token.length >= LONG_DIGITS && String(Number(token)) !== token;
  const value = Number(token);
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return false;
  const written = toWhole(token);
  return written !== undefined && written !== toWhole(String(value));
}

/** Writes a whole number as its digits without zeros at either end, and its power of ten; undefined for another number. */
function toWhole(token: string): string | undefined {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  const power = Number(exponent) - fraction.length + digits.length - kept.length;
  return power < 0 ? undefined : `${kept}e${power}`;
}

/** Parses JSON. `error`: a sentence about a text that is no JSON, or has a number that parsing would change. */
export function readJson(text: string, subject = 'Must'): { value?: unknown; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    const error = findChangedNumber(text);
    return error === undefined ? { value } : { error };
  } catch (wrong) {
    return { error: `${subject} be JSON: ${wrong instanceof Error ? wrong.message : wrong}.` };
  }
}

/** Whether a parsed JSON value is an object. */
export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
