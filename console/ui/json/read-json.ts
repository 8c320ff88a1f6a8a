// Reads JSON that users typed.

/** A JSON string or a JSON number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const SHOWN_MAX = 40;

/**
 * Returns a sentence about the first number in a JSON text that parsing would change: an integer that would lose
 * digits, or a number that is too large. Undefined when there is none.
 */
export function findChangedNumber(text: string): string | undefined {
  for (const [token] of text.matchAll(TOKEN)) {
    if (Math.abs(Number(token)) === Number.POSITIVE_INFINITY)
      return `${token.slice(0, SHOWN_MAX)} is too large a number: write it as text, in quotes.`;
    if (/^-?\d{16,}$/.test(token) && String(Number(token)) !== token)
      return `The digits of ${token.slice(0, SHOWN_MAX)} would be changed: write it as text, in quotes.`;
  }
  return undefined;
}

/** Whether a parsed JSON value is an object. */
export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
