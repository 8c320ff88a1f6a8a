// `weir operator …`: what only operators of the service do. Everything else they do with the other commands, for every
// organization. create and secrets work on the database; all others use the HTTP API.
import type { Command } from 'commander';
import { addGrantCommand } from './credits.ts';
import { addKeyCommands } from './keys.ts';
import { addMemberCommands } from './members.ts';
import { addOrganizationCommands } from './organizations.ts';
import { addSecretsCommands } from './secrets.ts';
import { addStuckRunsCommand } from './stuck-runs.ts';

export function addOperatorCommands(program: Command): void {
  const operator = program
    .command('operator')
    .description('operate the service: organizations, credits, stuck runs, and the keys of operators')
    .addHelpText(
      'after',
      '\nThese commands need an operator: the key in WEIR_OPERATOR_KEY, or a user whom\n' +
        'WEIR_OPERATORS of the service names. All other commands of weir then work for\n' +
        'every organization. create and secrets use the database (DATABASE_URL).',
    );
  addKeyCommands(operator);
  addOrganizationCommands(operator);
  addGrantCommand(operator);
  addMemberCommands(operator);
  addStuckRunsCommand(operator);
  addSecretsCommands(operator);
}
