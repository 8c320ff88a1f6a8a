import type { Command } from 'commander';
import { addOrganization } from '../api/management/recorded-writes.ts';
import { type Db, inTransaction } from '../db/connect.ts';
import { MICROCREDITS_PER_CREDIT } from '../db/credits/ledger.ts';
import { listOrganizations, type OrganizationRow } from '../db/tenants/organizations.ts';
import { formatTable } from './format-table.ts';
import { onDatabase } from './on-database.ts';
import { operator } from './operator.ts';
import { parseName, parseSlug } from './parse-argument.ts';
import type { CommandResult } from './print-result.ts';

export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('create and list organizations');
  org
    .command('create')
    .description('create an organization, without credits')
    .argument('<slug>', 'its name in URLs', parseSlug)
    .option('--name <name>', 'display name (default: the slug)', parseName)
    .option('--description <text>', 'what the organization is for')
    .action(onDatabase(create));
  org.command('list').description('list all organizations and their credits').action(onDatabase(list));
}

async function create(
  db: Db,
  slug: string,
  options: { name?: string; description?: string },
): Promise<CommandResult> {
  const details = { name: options.name ?? slug, slug, description: options.description ?? '' };
  const row = await inTransaction(db, (tx) => addOrganization(tx, operator(), details));
  return { json: toJson(row), text: `Created organization ${row.slug}.` };
}

async function list(db: Db): Promise<CommandResult> {
  const organizations = (await listOrganizations(db)).map(toJson);
  return {
    json: organizations,
    text: formatTable(
      ['slug', 'name', 'credits'],
      organizations.map(({ slug, name, credits }) => [slug, name, credits]),
      'There are no organizations. Create one with: weir org create <slug>',
    ),
  };
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
