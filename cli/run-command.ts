// Runs one `weir` command in this process.
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { note } from './terminal/print.ts';

const USAGE_ERROR = 2;

/** Runs the command that `args` name. Sets `process.exitCode`: 2 when it was called wrongly, 1 when it failed. */
export async function runCommand(args: string[]): Promise<void> {
  try {
    await (await createProgram(args[0])).parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has printed the error, or the help.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
    else {
      const { describeError } = await import('./terminal/describe-error.ts');
      const { UsageError } = await import('./terminal/parse-argument.ts');
      note(describeError(error));
      process.exitCode = error instanceof UsageError ? USAGE_ERROR : 1;
    }
  }
}
