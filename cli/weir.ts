// The `weir` command. Each of its commands is in the file it is imported from: arguments and what the service answers go
// in, a table or JSON comes out. commands/ and flows/ work over HTTP through api/; operator/ works on the database; sign-in/ gets
// tokens; listen/ receives webhooks; terminal/ reads arguments and prints.
import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addRunCommand } from './commands/run.ts';
import { addFlowCommands } from './flows/commands.ts';
import { addTestCommand } from './flows/test-flows.ts';
import { addListenCommand } from './listen/listen.ts';
import { addOperatorCommands } from './operator/commands.ts';
import { addLoginCommands } from './sign-in/login.ts';
import { addTokenCommand } from './sign-in/token.ts';
import { addWhoamiCommand } from './sign-in/whoami.ts';
import { addCompletionCommand } from './terminal/completion.ts';
import { describeError } from './terminal/describe-error.ts';
import { addHelpCommand } from './terminal/help.ts';
import { UsageError } from './terminal/usage-error.ts';

const USAGE_ERROR = 2;
/** Room that the longest name of a command, with its arguments, leaves for what it does. */
const DESCRIPTION_MIN_COLUMNS = 20;
const TEXT_ONLY = new Set(['completion', 'help']);

const program = new Command('weir').description(
  'Works with a Weir service.\n\n' +
    'Commands use the HTTP interface of the service at WEIR_URL, with WEIR_TOKEN or WEIR_API_KEY. In a checkout where npm ' +
    'start has run, nothing has to be set, except WEIR_STATE_DIR if npm start ran with it. Only weir operator works on the ' +
    'database.',
);
addFlowCommands(program);
addTestCommand(program);
addRunCommand(program);
addListenCommand(program);
addLoginCommands(program);
addTokenCommand(program);
addWhoamiCommand(program);
addOperatorCommands(program);
addCompletionCommand(program);
addHelpCommand(program);
// Commands have a --version of their own, after their name.
program.enablePositionalOptions().version(packageJson.version, '--version', 'print the version of Weir');
completeCommands(program);

// A pipe such as `weir operator runs list | head` closes stdout early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed the error, or the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  else {
    console.error(describeError(error));
    process.exitCode = error instanceof UsageError ? USAGE_ERROR : 1;
  }
}

/** Gives every command its exit handling and a help of 80 columns, and those whose output is data their `--json`. */
function completeCommands(command: Command): void {
  command.configureHelp({ minWidthToWrap: DESCRIPTION_MIN_COLUMNS });
  command.exitOverride().showHelpAfterError('Add --help to see how the command is used.');
  for (const child of command.commands) completeCommands(child);
  if (command.commands.length === 0 && !TEXT_ONLY.has(command.name()))
    command.option('--json', 'print JSON for scripts');
}
