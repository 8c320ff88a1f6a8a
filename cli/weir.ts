// The `weir` command: runs the commands of program.ts. Exits with 2 when it was called wrongly and with 1 when it failed.
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { describeError } from './terminal/describe-error.ts';
import { note } from './terminal/print-line.ts';
import { UsageError } from './terminal/usage-error.ts';

const USAGE_ERROR = 2;

// A pipe such as `weir operator runs list | head` closes stdout early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  note(`The output of this command cannot be written: ${error.message}.`);
  process.exit(1);
});
// There is no other place to report this.
process.stderr.on('error', () => undefined);
try {
  await createProgram().parseAsync();
} catch (error) {
  // Commander has printed the error, or the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  else {
    note(describeError(error));
    process.exitCode = error instanceof UsageError ? USAGE_ERROR : 1;
  }
}
