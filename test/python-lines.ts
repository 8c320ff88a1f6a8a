/** Splits a text as Python's `str.splitlines` does, which many readers of event streams use. */
function splitLines(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: These end lines there.
  const lines = text.split(/\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** Every character at which some reader ends a line. */
export const LINE_ENDS = '\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029';

/** Reads the events of a stream line by line. */
export function readEvents(text: string): { [field: string]: string }[] {
  const events: { [field: string]: string }[] = [];
  let event: { [field: string]: string } = {};
  for (const line of splitLines(text)) {
    const [, field = '', value = ''] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
    if (line === '') {
      events.push(event);
      event = {};
    } else if (field !== '') event[field] = value;
    else if (!line.startsWith(':')) throw new Error(`not a line of an event: ${JSON.stringify(line)}`);
  }
  return events;
}
