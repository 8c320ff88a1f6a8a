/** A text in quotes, or a number: the whole of either. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const SHOWN_MAX = 40;

/**
 * Says in a sentence which number of a JSON text parsing would change: a whole one that would lose digits, or one that is too
 * large; undefined when there is none.
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
