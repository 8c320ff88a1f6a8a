import type { Command } from 'commander';
import { printLine } from './print-line.ts';

/** The result of a command: `json` for scripts, in a stable shape, and the same as `text` for people. */
export type CommandResult = { json: unknown; text: string };

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
