// main of the `weir` command: runs the commands of program.ts.
import { runCommand } from './run-command.ts';
import { endOnSignals } from './terminal/interruption.ts';
import { note } from './terminal/print.ts';

endOnSignals();
// A pipe such as `weir runs list | head` closes stdout early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  note(`The output of this command cannot be written: ${error.message}.`);
  process.exit(1);
});
// There is no other place to report this.
process.stderr.on('error', () => undefined);
await runCommand(process.argv.slice(2));
// A request that is late must not keep a shell waiting, which completes a word.
if (process.argv[2] === '__complete') process.exit();
