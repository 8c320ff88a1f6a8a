import type { Command } from 'commander';
import { addOrganization, removeOrganization } from '../../api/management/recorded-writes.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { MICROCREDITS_PER_CREDIT } from '../../db/credits/ledger.ts';
import { listOrganizations, lockOrganization, type OrganizationRow } from '../../db/tenants/organizations.ts';
import { formatTable } from '../terminal/format-table.ts';
import { parseName, parseSlug } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { requireConfirmation } from '../terminal/require-confirmation.ts';
import { getOrganization } from './find-by-path.ts';
import { finishDeletion } from './finish-deletion.ts';
import { onDatabase } from './on-database.ts';
import { operator } from './operator.ts';

export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('create, list and delete organizations');
  org
    .command('create')
    .description('create an organization, without credits')
    .argument('<slug>', 'its name in URLs', parseSlug)
    .option('--name <name>', 'display name (default: the slug)', parseName)
    .option('--description <text>', 'what the organization is for')
    .action(onDatabase(create));
  org.command('list').description('list all organizations and their credits').action(onDatabase(list));
  org
    .command('delete')
    .description('delete an organization with its projects, and cancel what is under way in them')
    .argument('<slug>', 'slug of the organization')
    .requiredOption('--confirm <slug>', 'the slug once more: there is no way back')
    .action(onDatabase(remove));
}

async function create(
  db: Db,
  slug: string,
  options: { name?: string; description?: string },
): Promise<CommandResult> {
  const details = { name: options.name ?? slug, slug, description: options.description ?? '' };
  const row = await inTransaction(db, (tx) => addOrganization(tx, operator(), details));
  return {
    json: toJson(row),
    text: `Created organization ${row.slug}. Its runs need credits: weir operator credits grant ${row.slug} 1000`,
  };
}

async function list(db: Db): Promise<CommandResult> {
  const organizations = (await listOrganizations(db)).map(toJson);
  return {
    json: organizations,
    text: formatTable(
      ['slug', 'name', 'credits'],
      organizations.map(({ slug, name, credits }) => [slug, name, credits]),
      'There are no organizations. Create one with: weir operator org create <slug>',
    ),
  };
}

async function remove(db: Db, slug: string, { confirm }: { confirm: string }): Promise<CommandResult> {
  requireConfirmation(slug, confirm);
  const { id } = await getOrganization(db, slug);
  const { projectIds, cancelled } = await inTransaction(db, async (tx) => {
    await lockOrganization(tx, id);
    return removeOrganization(tx, operator(), id);
  });
  return finishDeletion(db, `organization ${slug}`, { id, projectIds, cancelled });
}

function toJson(row: OrganizationRow) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    credits: row.balance_microcredits / MICROCREDITS_PER_CREDIT,
    createdAt: row.created_at,
  };
}
