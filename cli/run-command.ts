// Runs one `weir` command in this process.
import { CommanderError } from 'commander';
import { forgetMe } from './api/get-resource.ts';
import { createProgram } from './program.ts';
import { describeError } from './terminal/describe-error.ts';
import { UsageError } from './terminal/parse-argument.ts';
import { note } from './terminal/print.ts';

const USAGE_ERROR = 2;

/** Runs the command that `args` name. Sets `process.exitCode`: 2 when it was called wrongly, 1 when it failed. */
export async function runCommand(args: string[]): Promise<void> {
  forgetMe();
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has printed the error, or the help.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
    else {
      note(describeError(error));
      process.exitCode = error instanceof UsageError ? USAGE_ERROR : 1;
    }
  }
}
