import type { Command } from 'commander';
import { addAssistantCommands } from './assistants.ts';
import { addAuditLogCommand } from './audit-log.ts';
import { addCreditCommands } from './credits.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { addFlowCommands } from './flows.ts';
import { addKeyCommands } from './keys.ts';
import { addListenCommand } from './listen.ts';
import { addMemberCommands } from './members.ts';
import { addOrganizationCommands } from './organizations.ts';
import { addProjectCommands } from './projects.ts';
import { addRunsCommands } from './runs.ts';
import { addSecretsCommands } from './secrets.ts';

/** Adds `weir operator`: the commands that work on the database itself. */
export function addOperatorCommands(program: Command): void {
  const operator = program
    .command('operator')
    .description('work on the database itself: the first organization, credits, emergencies')
    .addHelpText(
      'after',
      '\nThese commands need DATABASE_URL and ask nobody for permission. key create also\n' +
        'needs WEIR_API_KEY_PEPPER; secrets and listen need WEIR_SECRETS_KEYS. In a\n' +
        'checkout where npm start has run, nothing has to be set. The audit log names\n' +
        'their author as operator.',
    );
  addOrganizationCommands(operator);
  addCreditCommands(operator);
  addMemberCommands(operator);
  addProjectCommands(operator);
  addKeyCommands(operator);
  addFlowCommands(operator);
  addRunsCommands(operator);
  addDeliveryCommands(operator);
  addListenCommand(operator);
  addAssistantCommands(operator);
  addAuditLogCommand(operator);
  addSecretsCommands(operator);
}
