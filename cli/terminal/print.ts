// Prints lines, tables and results. Text from elsewhere is made safe for a terminal.

import type { Command } from 'commander';
import { CONTROL_CHARACTERS } from '../../flow/limits.ts';

/** The result of a command: `json` for scripts, in a stable shape, and the same as `text` for people. */
export type CommandResult = { json: unknown; text: string };

type Cell = string | number | null | undefined;

/**
 * Prints text, and a line feed where it ends without one. All that a command prints passes through here, so that no control
 * character in what others wrote reaches the terminal.
 */
export function printLine(text: string, stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(escapeControls(text.endsWith('\n') ? text : `${text}\n`));
}

let isForScripts = false;

/** Sets whether the command has `--json`: each line of stderr is then a JSON object, too. */
export function printForScripts(json: boolean): void {
  isForScripts = json;
}

export function printsForScripts(): boolean {
  return isForScripts;
}

/** Prints a line for people to stderr, beside what a command prints for scripts; with `--json` as `{"note": …}`. */
export function note(text: string): void {
  printLine(isForScripts ? JSON.stringify({ note: text }) : text, process.stderr);
}

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

/** Makes untrusted text safe to print: replaces control characters, including bidirectional overrides. */
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

/** Prints a result to stdout, as JSON where the command has `--json`. */
export function printResult(result: CommandResult, command: Command): void {
  const { json } = command.opts<{ json?: boolean }>();
  printLine(json ? JSON.stringify(result.json, null, 2) : result.text);
}

/** Makes the action of a command that prints what `work` answers for its arguments. */
export function printed<A extends unknown[]>(work: (...args: A) => Promise<CommandResult>) {
  return async (...args: [...A, Command]): Promise<void> =>
    printResult(await work(...(args.slice(0, -1) as A)), args.at(-1) as Command);
}

/** Makes the action of a command as `printed` does, of work whose files are loaded when the command runs. */
export function printedBy<A extends unknown[]>(load: () => Promise<(...args: A) => Promise<CommandResult>>) {
  return printed(async (...args: A) => (await load())(...args));
}
