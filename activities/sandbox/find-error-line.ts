/** Errors that the engine itself throws, for which it knows only the line of an earlier call or statement. */
const UNPLACED = /^TypeError: (cannot |not an object|invalid '|.*\biterable\b)|is not initialized$/i;
/** An unterminated string, comment or template: the engine knows where the source ends, not where the text began. */
const ENDLESS = /^SyntaxError: unexpected end of (string|comment|template)/;
const PROPERTY = /^TypeError: cannot (?:read|set) property '(.+)' of /;

/** Returns the line of the source that an error belongs to, or undefined when the engine's `line` may be another. */
export function findErrorLine(title: string, line: number, source: string): number | undefined {
  const lines = source.split('\n');
  const property = PROPERTY.exec(title)?.[1];
  // A property that only one line names after a dot was read there.
  if (property !== undefined) {
    const holders = lines.flatMap((text, index) => (names(text, property) ? [index + 1] : []));
    return holders.length === 1 ? holders[0] : undefined;
  }
  if (UNPLACED.test(title)) return undefined;
  if (ENDLESS.test(title) && lines.length > 1 && line >= lines.length) return undefined;
  return Math.min(line, lines.length);
}

function names(text: string, property: string): boolean {
  const chains = text.split(/[^\p{L}\p{N}_$.]+/u);
  return chains.some((chain) => chain.split('.').slice(1).includes(property));
}
