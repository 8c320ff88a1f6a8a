/** Errors that the engine itself throws, for which it knows only the line of an earlier call or statement. */
const UNPLACED = /^TypeError: (cannot |not an object|invalid '|.*\biterable\b)|is not initialized$/i;
/** An unterminated string, comment or template: the engine knows where the source ends, not where the text began. */
const ENDLESS = /^SyntaxError: unexpected end of (string|comment|template)/;
const PROPERTY = /^TypeError: cannot (?:read|set) property '(.+)' of /;
const UNDEFINED = /^ReferenceError: ([\p{L}_$][\p{L}\p{N}_$]*) is not defined$/u;
/** The end of a line inside a call or a list: the engine may name any line of a call that has several. */
const OPEN_END = /[([,]\s*$/;

/** Returns the line of the source that an error belongs to, or undefined when the engine's `line` may be another. */
export function findErrorLine(title: string, line: number, source: string): number | undefined {
  const lines = source.split('\n');
  const property = PROPERTY.exec(title)?.[1];
  // A property that only one line names after a dot was read there.
  if (property !== undefined) return onlyLine(lines, (text) => names(text, property));
  const name = UNDEFINED.exec(title)?.[1];
  if (name !== undefined) return onlyLine(lines, (text) => identifiersOf(text).includes(name));
  if (UNPLACED.test(title) || isInsideCall(lines, line)) return undefined;
  if (ENDLESS.test(title) && lines.length > 1 && line >= lines.length) return undefined;
  return Math.min(line, lines.length);
}

function names(text: string, property: string): boolean {
  const chains = text.split(/[^\p{L}\p{N}_$.]+/u);
  return chains.some((chain) => chain.split('.').slice(1).includes(property));
}

/** Returns the number of the line that alone has what is looked for. */
function onlyLine(lines: string[], has: (text: string) => boolean): number | undefined {
  const holders = lines.flatMap((text, index) => (has(text) ? [index + 1] : []));
  return holders.length === 1 ? holders[0] : undefined;
}

/** Lists the names in a line that are not members of something. */
function identifiersOf(text: string): string[] {
  return text.match(/(?<![\p{L}\p{N}_$]|(?<!\.\.)\.)[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? [];
}

function isInsideCall(lines: string[], line: number): boolean {
  return OPEN_END.test(lines[line - 2] ?? '') || /,\s*$/.test(lines[line - 1] ?? '');
}
