import { type Command, InvalidArgumentError } from 'commander';
import { addOrganization, removeOrganization } from '../../api/organizations/recorded-organizations.ts';
import { toOrganization } from '../../api/organizations/to-records.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { countRunsUnderWay } from '../../db/runs/runs-under-way.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { updateRunsUnderWayMax } from '../../db/tenants/limits.ts';
import {
  endSuspension,
  listOrganizations,
  lockOrganization,
  type OrganizationRow,
  suspendOrganization,
} from '../../db/tenants/organizations.ts';
import { requireConfirmation } from '../terminal/deletion.ts';
import { parseName, parseReason, parseSlug, parseWholeNumber } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, oneLine } from '../terminal/print.ts';
import { finishDeletion } from './finish-deletion.ts';
import { getOrganization, onDatabase, operator } from './on-database.ts';

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
    .description('refuse to start or continue runs of an organization until it is resumed')
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

/** Suspends an organization: its next requests cannot start or continue runs. Runs under way continue. */
async function suspend(db: Db, slug: string, { reason }: { reason?: string }): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  await inTransaction(db, async (tx) => {
    if (!(await suspendOrganization(tx, id, reason))) return;
    await recordChange(tx, operator(), {
      organizationId: id,
      action: 'organization.suspend',
      resourceId: id,
      details: { reason: reason ?? null },
    });
  });
  const { suspended_at: suspendedAt, suspension_reason: suspensionReason } = await getOrganization(db, slug);
  return {
    json: { organization: slug, suspendedAt, suspensionReason },
    text: [
      `${slug} has been suspended since ${formatTime(suspendedAt)}: it can begin and continue no runs.`,
      suspensionReason
        ? `Its callers are told the reason: ${oneLine(suspensionReason)}`
        : 'No reason is given.',
      `Its runs under way go on. To cancel them: weir operator runs cancel --organization ${slug} --status started`,
      `To let it go on: weir operator org resume ${slug}`,
    ].join('\n'),
  };
}

/** Lets a suspended organization begin and continue runs again. */
async function resume(db: Db, slug: string): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const changed = await inTransaction(db, async (tx) => {
    const wasSuspended = await endSuspension(tx, id);
    const change = { organizationId: id, action: 'organization.resume', resourceId: id };
    if (wasSuspended) await recordChange(tx, operator(), change);
    return wasSuspended;
  });
  return {
    json: { organization: slug, suspendedAt: null, suspensionReason: null },
    text: changed
      ? `${slug} can begin and continue runs again.`
      : `${slug} was not suspended: it can begin and continue runs.`,
  };
}
