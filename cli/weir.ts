// The operator's `weir` command. Each command is in the file it is imported from: arguments and the database (or, for
// `weir run` and `weir listen --forward-to`, the API) go in, a table or JSON comes out.
import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addAssistantCommands } from './assistants.ts';
import { addAuditLogCommand } from './audit-log.ts';
import { addCompletionCommand } from './completion.ts';
import { addCreditCommands } from './credits.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { describeError } from './describe-error.ts';
import { addFlowCommands } from './flows.ts';
import { addHelpCommand } from './help.ts';
import { addKeyCommands } from './keys.ts';
import { addListenCommand } from './listen.ts';
import { addMemberCommands } from './members.ts';
import { addOrganizationCommands } from './organizations.ts';
import { addProjectCommands } from './projects.ts';
import { addRunCommand } from './run.ts';
import { addRunsCommands } from './runs.ts';
import { addSecretsCommands } from './secrets.ts';
import { addTokenCommand } from './token.ts';
import { UsageError } from './usage-error.ts';

const USAGE_ERROR = 2;
/** Room that the longest name of a command, with its arguments, leaves for what it does. */
const DESCRIPTION_MIN_COLUMNS = 20;
const TEXT_ONLY = new Set(['completion', 'help']);

const program = new Command('weir').description(
  'Manages a Weir service.\n\n' +
    'Commands work on the database at DATABASE_URL; key create also needs WEIR_API_KEY_PEPPER, and secrets and ' +
    'listen need WEIR_SECRETS_KEYS. weir run and listen --forward-to use the API at WEIR_URL with WEIR_API_KEY. In a checkout where npm ' +
    'start has run, nothing has to be set, except WEIR_STATE_DIR if npm start ran with it.',
);
addOrganizationCommands(program);
addMemberCommands(program);
addAssistantCommands(program);
addProjectCommands(program);
addKeyCommands(program);
addFlowCommands(program);
addRunCommand(program);
addRunsCommands(program);
addDeliveryCommands(program);
addCreditCommands(program);
addAuditLogCommand(program);
addListenCommand(program);
addSecretsCommands(program);
addTokenCommand(program);
addCompletionCommand(program);
addHelpCommand(program);
// Commands have a --version of their own, after their name.
program.enablePositionalOptions().version(packageJson.version, '--version', 'print the version of Weir');
completeCommands(program);

// A pipe such as `weir runs list | head` closes stdout early.
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
