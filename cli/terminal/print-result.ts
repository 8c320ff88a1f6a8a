import type { Command } from 'commander';

/** The result of a command: `json` for scripts, in a stable shape, and the same as `text` for people. */
export type CommandResult = { json: unknown; text: string };

/** Prints a result to stdout, as JSON where the command has `--json`. */
export function printResult(result: CommandResult, command: Command): void {
  const { json } = command.opts<{ json?: boolean }>();
  const text = json ? JSON.stringify(result.json, null, 2) : result.text;
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}
