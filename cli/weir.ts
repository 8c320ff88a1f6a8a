// The operator's `weir` command: every command with its options. What each does is in the file it comes from.
import { Command, CommanderError } from 'commander';
import { addCreditCommands } from './credits.ts';
import { describeError } from './describe-error.ts';
import { addFlowCommands } from './flows.ts';
import { addKeyCommands } from './keys.ts';
import { addListenCommand } from './listen.ts';
import { addMemberCommands } from './members.ts';
import { addOrganizationCommands } from './organizations.ts';
import { addProjectCommands } from './projects.ts';
import { addRunCommand } from './run.ts';
import { addRunsCommands } from './runs.ts';
import { addSecretsCommands } from './secrets.ts';
import { addTokenCommand } from './token.ts';

const USAGE_ERROR = 2;

const program = new Command('weir').description(
  'Manages a Weir service. Reads DATABASE_URL and WEIR_API_KEY_PEPPER, or the state of a local npm start.',
);
addOrganizationCommands(program);
addMemberCommands(program);
addProjectCommands(program);
addKeyCommands(program);
addFlowCommands(program);
addRunCommand(program);
addRunsCommands(program);
addCreditCommands(program);
addListenCommand(program);
addSecretsCommands(program);
addTokenCommand(program);
completeLeaves(program);

// `weir runs list | head` closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed what is wrong, or the help that was asked for.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  else {
    console.error(describeError(error));
    process.exitCode = 1;
  }
}

function completeLeaves(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) completeLeaves(child);
  if (command.commands.length === 0) command.option('--json', 'print JSON for scripts');
}
