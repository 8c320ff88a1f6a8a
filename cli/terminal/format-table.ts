import { CONTROL_CHARACTERS } from '../../flow/control-characters.ts';

type Cell = string | number | null | undefined;

/** Formats rows as columns, numbers to the right; returns `empty` when there are no rows. */
export function formatTable(header: string[], rows: Cell[][], empty: string): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => row.map((cell) => oneLine(String(cell ?? '-'))));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const right = header.map((_, column) => rows.some((row) => typeof row[column] === 'number'));
  const line = (row: string[]) =>
    row
      .map((cell, column) =>
        right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(header.map((title) => title.toUpperCase())), ...cells.map(line)].join('\n');
}

/** Makes text that others chose safe to print: replaces control characters, including those that reverse text. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Bidi_Control}]/gu, '\u{fffd}');
}

/**
 * Makes text of several lines safe to print. Control characters, and characters that reverse text, become `\\u009b`, which
 * JSON and quoted YAML read as the same text. Line feeds and tabs stay.
 */
export function escapeControls(text: string): string {
  return text.replace(
    CONTROL_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Formats a time, a Date or as JSON has it, in UTC, to the second. */
export function formatTime(time: Date | string | null): string | null {
  return time && `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
