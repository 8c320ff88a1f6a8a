import { Argument, type Command, Option } from 'commander';
import type { z } from 'zod';
import type { memberRecord } from '../../api/organizations/schemas.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { getMe, getOrganization, organizationPath } from '../api/get-resource.ts';
import { ORG, parseUserId, UsageError } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';

const USER = ['<userId>', 'id of the user: the `sub` of tokens', parseUserId] as const;

type Member = z.output<typeof memberRecord>;
type Role = Member['role'];

export function addMemberCommands(program: Command): void {
  const member = program
    .command('member')
    .description('add, list, change and remove the members of an organization');
  member
    .command('add')
    .description('add a user to an organization, even one who has never signed in')
    .argument(...ORG)
    .argument(...USER)
    .addOption(
      new Option('--role <role>', 'role in the organization').choices(['admin', 'member']).default('member'),
    )
    .addHelpText('after', '\nExample:\n  weir member add acme auth0-1234 --role admin')
    .action(printed(add));
  member
    .command('list')
    .description('list the members of an organization')
    .argument(...ORG)
    .addHelpText('after', '\nExample:\n  weir member list acme')
    .action(printed(list));
  member
    .command('set-role')
    .description('change the role of a member; owners make owners')
    .argument(...ORG)
    .argument(...USER)
    .addArgument(new Argument('<role>', 'new role').choices(['owner', 'admin', 'member']))
    .addHelpText('after', '\nExample:\n  weir member set-role acme auth0-1234 member')
    .action(printed(setRole));
  member
    .command('remove')
    .description('remove a member; their runs continue and their API keys keep working')
    .argument(...ORG)
    .argument(...USER)
    .addHelpText('after', '\nExample:\n  weir member remove acme auth0-1234')
    .action(printed(remove));
  member
    .command('leave')
    .description('leave an organization; your runs continue and your API keys keep working')
    .argument(...ORG)
    .addHelpText('after', '\nExample:\n  weir member leave acme')
    .action(printed(leave));
}

async function add(org: string, userId: string, { role }: { role: Role }): Promise<CommandResult> {
  const body = { user_id: userId, role };
  const member = await callApi<Member>('POST', await organizationPath(org, 'members'), { body });
  return { json: member, text: `Added ${userId} to ${org} as ${role}.` };
}

async function list(org: string): Promise<CommandResult> {
  const members = await listAll<Member>(await organizationPath(org, 'members'), 'members');
  return {
    json: members,
    text: formatTable(
      ['user', 'name', 'email', 'role', 'since'],
      members.map(({ user_id, name, email, role, createdAt }) => [
        user_id,
        name,
        email,
        role,
        formatTime(createdAt),
      ]),
      'The organization has no members.',
    ),
  };
}

async function setRole(org: string, userId: string, role: Role): Promise<CommandResult> {
  const member = await callApi<Member>('PUT', await memberPath(org, userId), { body: { role } });
  return { json: member, text: `${userId} is now ${role} of ${org}.` };
}

async function remove(org: string, userId: string): Promise<CommandResult> {
  await callApi('DELETE', await memberPath(org, userId));
  return { json: { organization: org, userId }, text: `Removed ${userId} from ${org}.` };
}

async function leave(org: string): Promise<CommandResult> {
  // Finds the organization first, which prefers the sign-in to an API key.
  await getOrganization(org);
  const me = await getMe();
  if (me.kind !== 'user') throw new UsageError('Only a user can leave: sign in with weir login.');
  await callApi('DELETE', await memberPath(org, me.userId));
  return { json: { organization: org, userId: me.userId }, text: `You have left ${org}.` };
}

function memberPath(org: string, userId: string): Promise<string> {
  return organizationPath(org, `members/${encodeURIComponent(userId)}`);
}
