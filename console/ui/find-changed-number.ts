/** A text in quotes, or a number: the whole of either. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const SHOWN_MAX = 40;

/** Says in a sentence which whole number of a JSON text would lose digits when it is parsed; undefined when none would. */
export function findChangedNumber(text: string): string | undefined {
  for (const [token] of text.matchAll(TOKEN))
    if (/^-?\d{16,}$/.test(token) && String(Number(token)) !== token)
      return `The digits of ${token.slice(0, SHOWN_MAX)} would be changed: write it as text, in quotes.`;
  return undefined;
}
