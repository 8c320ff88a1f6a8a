// The commands of `weir`. commands/, flows/ and operator/ use the HTTP API through api/. backup/, `operator create` and
// `operator secrets` use the database.
// sign-in/ gets tokens, listen/ receives webhooks, doctor/ checks the dependencies of the service, and terminal/ reads
// arguments and prints.
import { Command, Help, type Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addBackupCommands } from './backup/commands.ts';
import { addAssistantCommands } from './commands/assistants.ts';
import { addAuditLogCommand } from './commands/audit-log.ts';
import { addCreditCommands } from './commands/credits.ts';
import { addDeliveryCommands, addWebhookSecretCommands } from './commands/deliveries.ts';
import { addInvitationCommands } from './commands/invitations.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addMemberCommands } from './commands/members.ts';
import { addModelsCommand } from './commands/models.ts';
import { addOrganizationCommands } from './commands/organizations.ts';
import { addProjectCommands } from './commands/projects.ts';
import { addRunCommand } from './commands/run.ts';
import { addRunsCommands } from './commands/runs.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addDoctorCommand } from './doctor/doctor.ts';
import { addFlowCommands } from './flows/commands.ts';
import { addTestCommand } from './flows/test-flows.ts';
import { addListenCommand } from './listen/listen.ts';
import { addOperatorCommands } from './operator/commands.ts';
import { addLoginCommands, addWhoamiCommand } from './sign-in/login.ts';
import { addTokenCommand } from './sign-in/token.ts';
import { addCompletionCommand } from './terminal/completion.ts';
import { addHelpCommand } from './terminal/help.ts';

/** Minimum width of descriptions; where the longest command leaves less, descriptions stand below their commands. */
const DESCRIPTION_MIN_COLUMNS = 20;
const DESCRIPTION_INDENT = ' '.repeat(6);
const TEXT_ONLY = new Set(['completion', 'help']);

/** Declares every command. */
export function createProgram(): Command {
  const program = new Command('weir').description(
    'Works with a Weir service.\n\n' +
      'Commands use the HTTP API of a service: the one you are signed in to (weir login), or the one at WEIR_URL, ' +
      'with WEIR_OPERATOR_KEY, WEIR_TOKEN or WEIR_API_KEY. In a checkout where npm start has run, nothing has to be set, except WEIR_STATE_DIR if ' +
      'npm start ran with it. Only weir operator create and secrets, backup, restore and doctor use the database directly.',
  );
  addLoginCommands(program);
  addWhoamiCommand(program);
  addFlowCommands(program);
  addTestCommand(program);
  addRunCommand(program);
  addRunsCommands(program);
  addOrganizationCommands(program);
  addProjectCommands(program);
  addMemberCommands(program);
  addInvitationCommands(program);
  addKeyCommands(program);
  addCreditCommands(program);
  addUsageCommand(program);
  addModelsCommand(program);
  addDeliveryCommands(program);
  addWebhookSecretCommands(program);
  addListenCommand(program);
  addAssistantCommands(program);
  addAuditLogCommand(program);
  addTokenCommand(program);
  addDoctorCommand(program);
  addOperatorCommands(program);
  addBackupCommands(program);
  addCompletionCommand(program);
  addHelpCommand(program);
  // Commands have a --version of their own, after their name.
  program.enablePositionalOptions().version(packageJson.version, '--version', 'print the version of Weir');
  completeCommands(program);
  return program;
}

/**
 * Gives every command its exit handling, a help as wide as the terminal (80 columns without one) and, where it prints data,
 * `--json`.
 */
function completeCommands(command: Command): void {
  command.configureHelp({
    minWidthToWrap: DESCRIPTION_MIN_COLUMNS,
    optionDescription: describeOption,
    formatItem,
  });
  command.exitOverride().showHelpAfterError('Add --help to see how the command is used.');
  for (const child of command.commands) completeCommands(child);
  if (command.commands.length === 0 && !TEXT_ONLY.has(command.name()))
    command.option('--json', 'print JSON for scripts');
}

function describeOption(option: Option): string {
  const description = new Help().optionDescription(option);
  return option.mandatory ? `${description} (required)` : description;
}

/** Formats an option, argument or command with its description beside it, or below it in narrow terminals. */
function formatItem(this: Help, term: string, termWidth: number, description: string, help: Help): string {
  const width = help.helpWidth ?? 80;
  if (width - termWidth - '    '.length >= DESCRIPTION_MIN_COLUMNS || !description)
    return Help.prototype.formatItem.call(this, term, termWidth, description, help);
  const below = help.boxWrap(description, width - DESCRIPTION_INDENT.length);
  return `  ${term}\n${below.replace(/^/gm, DESCRIPTION_INDENT)}`;
}
