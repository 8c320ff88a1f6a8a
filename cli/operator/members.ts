import { Argument, type Command, Option } from 'commander';
import { addMember, changeRole, removeMember } from '../../api/organizations/recorded-members.ts';
import { toMember } from '../../api/organizations/to-records.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import type { Role } from '../../db/schema.ts';
import { listMembers, lockMember, type MemberRow } from '../../db/tenants/memberships.ts';
import { parseUserId } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime } from '../terminal/print.ts';
import { getOrganization, onDatabase, operator, readPages } from './on-database.ts';

export function addMemberCommands(program: Command): void {
  const member = program
    .command('member')
    .description('add, list, change and remove the members of an organization');
  member
    .command('add')
    .description('add a user to an organization, for example as its first owner')
    .argument('<org>', 'slug of the organization')
    .argument(
      '<userId>',
      'id of the user: the `sub` of the tokens that the identity provider issues',
      parseUserId,
    )
    .addOption(
      new Option('--role <role>', 'role of the user in the organization')
        .choices(['owner', 'admin', 'member'])
        .default('member'),
    )
    .action(onDatabase(add));
  member
    .command('list')
    .description('list the members of an organization')
    .argument('<org>', 'slug of the organization')
    .action(onDatabase(list));
  member
    .command('set-role')
    .description('change the role of a member; an operator may leave an organization without an owner')
    .argument('<org>', 'slug of the organization')
    .argument('<userId>', 'id of the user')
    .addArgument(new Argument('<role>', 'new role').choices(['owner', 'admin', 'member']))
    .action(onDatabase(setRole));
  member
    .command('remove')
    .description('remove a member; their runs continue and their API keys keep working')
    .argument('<org>', 'slug of the organization')
    .argument('<userId>', 'id of the user')
    .action(onDatabase(remove));
}

async function add(db: Db, slug: string, userId: string, { role }: { role: Role }): Promise<CommandResult> {
  const { id: organizationId } = await getOrganization(db, slug);
  const row = await inTransaction(db, (tx) => addMember(tx, operator(), { organizationId, userId, role }));
  return { json: toMember(row), text: `Added ${userId} to ${slug} as ${role}.` };
}

async function list(db: Db, slug: string): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const rows = await readPages<MemberRow>((last, limit) =>
    listMembers(db, id, { after: last?.user_id, limit }),
  );
  const members = rows.map(toMember);
  return {
    json: members,
    text: formatTable(
      ['user', 'role', 'since'],
      members.map(({ user_id, role, createdAt }) => [user_id, role, formatTime(createdAt)]),
      'The organization has no members. Add one with: weir operator member add <org> <userId>',
    ),
  };
}

async function setRole(db: Db, slug: string, userId: string, role: Role): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const row = await inTransaction(db, async (tx) =>
    changeRole(tx, operator(), (await lockMember(tx, id, userId)).member, role),
  );
  return { json: toMember(row), text: `${userId} is now ${role} of ${slug}.` };
}

async function remove(db: Db, slug: string, userId: string): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  await inTransaction(db, async (tx) =>
    removeMember(tx, operator(), (await lockMember(tx, id, userId)).member),
  );
  return { json: { organization: slug, user_id: userId }, text: `Removed ${userId} from ${slug}.` };
}
