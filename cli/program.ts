// The commands of `weir`. commands/, flows/ and operator/ use the HTTP API through api/. backup/, `operator create` and
// `operator secrets` use the database.
// sign-in/ gets tokens, listen/ receives webhooks, doctor/ checks the dependencies of the service, and terminal/ reads
// arguments and prints.
import { Command, Help, type Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addCompletionCommand } from './terminal/completion.ts';
import { addHelpCommand } from './terminal/help.ts';
import { printLine, printsForScripts } from './terminal/print.ts';

/** Minimum width of descriptions; where the longest command leaves less, descriptions stand below their commands. */
const DESCRIPTION_MIN_COLUMNS = 20;
const DESCRIPTION_INDENT = ' '.repeat(6);
const TEXT_ONLY = new Set(['completion', 'help']);

/** The commands in the order of the help, each with what adds it. Only the files of the command that runs are loaded. */
const COMMANDS: [names: string, load: () => Promise<(program: Command) => void>][] = [
  ['login logout', async () => (await import('./sign-in/login.ts')).addLoginCommands],
  ['whoami', async () => (await import('./sign-in/login.ts')).addWhoamiCommand],
  ['flow', async () => (await import('./flows/commands.ts')).addFlowCommands],
  ['test', async () => (await import('./flows/commands.ts')).addTestCommand],
  ['test-runs', async () => (await import('./flows/commands.ts')).addTestRunCommands],
  ['run', async () => (await import('./commands/run.ts')).addRunCommand],
  ['runs', async () => (await import('./commands/runs.ts')).addRunsCommands],
  ['org', async () => (await import('./commands/organizations.ts')).addOrganizationCommands],
  ['project', async () => (await import('./commands/projects.ts')).addProjectCommands],
  ['member', async () => (await import('./commands/members.ts')).addMemberCommands],
  ['invitation', async () => (await import('./commands/invitations.ts')).addInvitationCommands],
  ['key keys', async () => (await import('./commands/keys.ts')).addKeyCommands],
  ['credits', async () => (await import('./commands/credits.ts')).addCreditCommands],
  ['usage', async () => (await import('./commands/usage.ts')).addUsageCommand],
  ['models', async () => (await import('./commands/models.ts')).addModelsCommand],
  ['deliveries', async () => (await import('./commands/deliveries.ts')).addDeliveryCommands],
  ['webhook-secret', async () => (await import('./commands/deliveries.ts')).addWebhookSecretCommands],
  ['listen', async () => (await import('./listen/listen.ts')).addListenCommand],
  ['assistant', async () => (await import('./commands/assistants.ts')).addAssistantCommands],
  ['audit-log', async () => (await import('./commands/audit-log.ts')).addAuditLogCommand],
  ['token', async () => (await import('./sign-in/token.ts')).addTokenCommand],
  ['doctor', async () => (await import('./doctor/doctor.ts')).addDoctorCommand],
  ['operator', async () => (await import('./operator/commands.ts')).addOperatorCommands],
  ['backup restore', async () => (await import('./backup/commands.ts')).addBackupCommands],
];

/** The names of all commands, without aliases. */
export const COMMAND_NAMES = [
  ...COMMANDS.flatMap(([names]) => names.replace('key keys', 'key').split(' ')),
  'completion',
  'help',
];

/** Declares the command with this name; every command where none has it. */
export async function createProgram(name?: string): Promise<Command> {
  const program = new Command('weir').description(
    'Works with a Weir service.\n\n' +
      'Commands use the HTTP API of a service: the one you are signed in to (weir login), or the one at WEIR_URL, ' +
      'with WEIR_OPERATOR_KEY, WEIR_TOKEN or WEIR_API_KEY. In a checkout where npm start has run, nothing has to be set, except WEIR_STATE_DIR if ' +
      'npm start ran with it. Only weir operator create and secrets, backup, restore and doctor use the database directly.',
  );
  const called = COMMANDS.filter(([names]) => names.split(' ').includes(name ?? ''));
  for (const [, load] of called.length > 0 ? called : COMMANDS) (await load())(program);
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
  // A failure is then reported as JSON.
  command.configureOutput({
    writeErr(text) {
      if (!printsForScripts()) printLine(text, process.stderr);
    },
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
