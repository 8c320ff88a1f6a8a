import { Argument, type Command } from 'commander';
import type { z } from 'zod';
import type { memberRecord } from '../../api/organizations/schemas.ts';
import { callApi } from '../api/call-api.ts';
import { getOrganization } from '../api/get-resource.ts';
import { ORG, parseUserId } from '../terminal/parse-argument.ts';
import { type CommandResult, printed } from '../terminal/print.ts';

type Member = z.output<typeof memberRecord>;

export function addMemberCommands(program: Command): void {
  program
    .command('member')
    .description('give users roles that members cannot give, such as owner')
    .command('set-role')
    .description('give a user a role in an organization; adds a new member, and may leave no owner')
    .argument(...ORG)
    .argument('<userId>', 'id of the user: the `sub` of tokens', parseUserId)
    .addArgument(new Argument('<role>', 'role of the user').choices(['owner', 'admin', 'member']))
    .addHelpText('after', "\nExample:\n  weir operator member set-role acme 'auth0|1234' owner")
    .action(printed(setRole));
}

async function setRole(org: string, userId: string, role: string): Promise<CommandResult> {
  const { id } = await getOrganization(org);
  const path = `/api/v1/operator/organizations/${id}/members/${encodeURIComponent(userId)}`;
  const member = await callApi<Member>('PUT', path, { body: { role } });
  return { json: member, text: `${userId} is now ${role} of ${org}.` };
}
