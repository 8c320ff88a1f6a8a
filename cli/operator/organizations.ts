import { type Command, InvalidArgumentError } from 'commander';
import { addOrganization, removeOrganization } from '../../api/organizations/recorded-organizations.ts';
import { toOrganization } from '../../api/organizations/to-organization.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { countRunsUnderWay } from '../../db/runs/runs-under-way.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { listOrganizations, lockOrganization, type OrganizationRow } from '../../db/tenants/organizations.ts';
import { updateRunsUnderWayMax } from '../../db/tenants/runs-under-way-max.ts';
import { formatTable, formatTime } from '../terminal/format-table.ts';
import { parseName, parseReason, parseSlug, parseWholeNumber } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { requireConfirmation } from '../terminal/require-confirmation.ts';
import { finishDeletion } from './finish-deletion.ts';
import { getOrganization } from './get-by-path.ts';
import { onDatabase } from './on-database.ts';
import { operator } from './operator.ts';
import { resume, suspend } from './suspend-organization.ts';

export function addOrganizationCommands(program: Command): void {
  const org = program
    .command('org')
    .description('create, list, suspend and delete organizations, and limit their runs under way');
  org
    .command('create')
    .description('create an organization, without credits')
    .argument('<slug>', 'name in URLs', parseSlug)
    .option('--name <name>', 'display name (default: the slug)', parseName)
    .option('--description <text>', 'what the organization is for')
    .action(onDatabase(create));
  org
    .command('list')
    .description('list all organizations, their credits and runs under way, and which are suspended')
    .action(onDatabase(list));
  org
    .command('set-quota')
    .description('set how many runs of an organization may be under way')
    .argument('<slug>', 'slug of the organization')
    .argument(
      '<runs>',
      'how many; unlimited: any number; default: as WEIR_RUNS_UNDER_WAY_MAX says',
      parseQuota,
    )
    .action(onDatabase(setQuota));
  org
    .command('suspend')
    .description('refuse whatever begins or continues runs of an organization, until it is resumed')
    .argument('<slug>', 'slug of the organization')
    .option('--reason <text>', 'why; callers are told', parseReason)
    .action(onDatabase(suspend));
  org
    .command('resume')
    .description('let a suspended organization begin and continue runs again')
    .argument('<slug>', 'slug of the organization')
    .action(onDatabase(resume));
  org
    .command('delete')
    .description('delete an organization with its projects, and cancel their runs and deliveries')
    .argument('<slug>', 'slug of the organization')
    .requiredOption('--confirm <slug>', 'repeat the slug: deletion cannot be undone')
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
    json: describeOrganization(row),
    text: `Created organization ${row.slug}. Its runs need credits: weir operator credits grant ${row.slug} 1000`,
  };
}

async function list(db: Db): Promise<CommandResult> {
  const underWay = await countRunsUnderWay(db);
  const organizations = (await listOrganizations(db)).map((row) => ({
    ...describeOrganization(row),
    underWay: underWay.get(row.id) ?? 0,
  }));
  return {
    json: organizations,
    text: formatTable(
      ['slug', 'name', 'id', 'credits', 'under way', 'suspended'],
      organizations.map(({ slug, name, id, credits, underWay, suspendedAt, suspensionReason }) => [
        ...[slug, name, id, credits, underWay],
        suspendedAt && [formatTime(suspendedAt), suspensionReason].filter(Boolean).join(': '),
      ]),
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

const QUOTA_MAX = 1_000_000;

function parseQuota(text: string): number | 'default' {
  if (text === 'default') return text;
  if (text === 'unlimited') return 0;
  if (/^0+$/.test(text))
    throw new InvalidArgumentError(
      'Write unlimited for any number (which 0 means in WEIR_RUNS_UNDER_WAY_MAX alone). To stop an organization now: weir operator org suspend <slug>.',
    );
  return parseWholeNumber(1, QUOTA_MAX)(text);
}

async function setQuota(db: Db, slug: string, quota: number | 'default'): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const runsUnderWay = quota === 'default' ? null : quota;
  await inTransaction(db, async (tx) => {
    if (!(await updateRunsUnderWayMax(tx, id, runsUnderWay))) return;
    await recordChange(tx, operator(), {
      organizationId: id,
      action: 'organization.set_quota',
      resourceId: id,
      details: { runsUnderWay },
    });
  });
  const now =
    quota === 'default'
      ? 'as many runs under way as WEIR_RUNS_UNDER_WAY_MAX says'
      : quota === 0
        ? 'any number of runs under way'
        : `${quota} ${quota === 1 ? 'run' : 'runs'} under way`;
  return { json: { organization: slug, runsUnderWay }, text: `${slug} may have ${now}.` };
}

function describeOrganization(row: OrganizationRow) {
  const { suspended_at: suspendedAt, suspension_reason: suspensionReason } = row;
  return { ...toOrganization(row), suspendedAt, suspensionReason };
}
