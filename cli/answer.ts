// What commands print: tables for people, JSON for scripts.
import type { Command } from 'commander';
import { connect, type Db } from '../db/connect.ts';
import { databaseUrl } from './environment.ts';

/** The same answer twice: `json` is a stable shape, `text` is for people. */
export type Answer = { json: unknown; text: string };

/** A command's action: runs `work` on the database with what commander parsed, and prints its answer. */
export function answering<A extends unknown[]>(work: (db: Db, ...args: A) => Promise<Answer>) {
  return async (...args: [...A, Command]): Promise<void> => {
    const command = args.at(-1) as Command;
    const db = connect(databaseUrl(), 2);
    try {
      const answer = await work(db, ...(args.slice(0, -1) as A));
      print(answer, command);
    } finally {
      await db.destroy();
    }
  };
}

/** Prints to stdout, as the command's `--json` asks. */
export function print(answer: Answer, command: Command): void {
  const { json } = command.opts<{ json?: boolean }>();
  const text = json ? JSON.stringify(answer.json, null, 2) : answer.text;
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export type Cell = string | number | null | undefined;

/** Columns padded to their widest cell, numbers to the right; `empty` when there is no row. */
export function table(header: string[], rows: Cell[][], empty: string): string {
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

/** Terminals obey control characters, also those that turn text around: in names that others chose they are replaced. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Bidi_Control}]/gu, '\u{fffd}');
}

/** A moment in UTC, to the second. */
export function moment(date: Date | null): string | null {
  return date && `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
