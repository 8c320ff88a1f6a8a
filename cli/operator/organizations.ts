import { type Command, InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import type { operatedOrganization } from '../../api/operator/organizations.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { getOrganization } from '../api/get-resource.ts';
import {
  parseName,
  parseReason,
  parseSlug,
  parseUserId,
  parseWholeNumber,
} from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, oneLine, printed } from '../terminal/print.ts';

const PATH = '/api/v1/operator/organizations';
const QUOTA_MAX = 1_000_000;

type Organization = z.output<typeof operatedOrganization>;

export function addOrganizationCommands(program: Command): void {
  const org = program
    .command('org')
    .description('create organizations for others, list and suspend all, and limit their runs under way');
  org
    .command('create')
    .description('create an organization, without credits')
    .argument('<slug>', 'name in URLs', parseSlug)
    .option('--name <name>', 'display name (default: the slug)', parseName)
    .option('--description <text>', 'what the organization is for')
    .option('--owner <userId>', 'user who becomes its owner: the `sub` of tokens', parseUserId)
    .addHelpText('after', "\nExample:\n  weir operator org create acme --owner 'auth0|1234'")
    .action(printed(create));
  org
    .command('list')
    .description('list all organizations, their credits and runs under way, and which are suspended')
    .addHelpText('after', '\nExample:\n  weir operator org list')
    .action(printed(list));
  org
    .command('set-quota')
    .description('set how many runs of an organization may be under way')
    .argument('<slug>', 'slug of the organization')
    .argument(
      '<runs>',
      'how many; unlimited: any number; default: as WEIR_RUNS_UNDER_WAY_MAX says',
      parseQuota,
    )
    .addHelpText('after', '\nExample:\n  weir operator org set-quota acme 50')
    .action(printed(setQuota));
  org
    .command('suspend')
    .description('refuse to start or continue runs of an organization until it is resumed')
    .argument('<slug>', 'slug of the organization')
    .option('--reason <text>', 'why; callers are told', parseReason)
    .addHelpText('after', '\nExample:\n  weir operator org suspend acme --reason "Unpaid invoice"')
    .action(printed(suspend));
  org
    .command('resume')
    .description('let a suspended organization begin and continue runs again')
    .argument('<slug>', 'slug of the organization')
    .addHelpText('after', '\nExample:\n  weir operator org resume acme')
    .action(printed(resume));
}

async function create(
  slug: string,
  { name = slug, description = '', owner }: { name?: string; description?: string; owner?: string },
): Promise<CommandResult> {
  const created = await callApi<Organization>('POST', PATH, { body: { slug, name, description, owner } });
  return {
    json: created,
    text: `Created organization ${slug}. Its runs need credits: weir operator credits grant ${slug} 1000`,
  };
}

async function list(): Promise<CommandResult> {
  const organizations = await listAll<Organization>(PATH, 'organizations');
  return {
    json: organizations,
    text: formatTable(
      ['slug', 'name', 'id', 'credits', 'under way', 'suspended'],
      organizations.map(({ slug, name, id, credits, runsUnderWay, suspendedAt, suspensionReason }) => [
        ...[slug, name, id, credits, runsUnderWay],
        suspendedAt && [formatTime(suspendedAt), suspensionReason].filter(Boolean).join(': '),
      ]),
      'There are no organizations. Create one with: weir operator org create <slug>',
    ),
  };
}

function parseQuota(text: string): number | 'default' {
  if (text === 'default') return text;
  if (text === 'unlimited') return 0;
  if (/^0+$/.test(text))
    throw new InvalidArgumentError(
      'Write unlimited for any number (which 0 means in WEIR_RUNS_UNDER_WAY_MAX alone). To stop an organization now: weir operator org suspend <slug>.',
    );
  return parseWholeNumber(1, QUOTA_MAX)(text);
}

async function setQuota(slug: string, quota: number | 'default'): Promise<CommandResult> {
  const body = { runs_under_way_max: quota === 'default' ? null : quota };
  const organization = await callApi<Organization>('PUT', await pathOf(slug, 'quota'), { body });
  const now =
    quota === 'default'
      ? 'as many runs under way as WEIR_RUNS_UNDER_WAY_MAX says'
      : quota === 0
        ? 'any number of runs under way'
        : `${quota} ${quota === 1 ? 'run' : 'runs'} under way`;
  return { json: organization, text: `${slug} may have ${now}.` };
}

/** Suspends an organization: its next requests cannot start or continue runs. Runs under way continue. */
async function suspend(slug: string, { reason }: { reason?: string }): Promise<CommandResult> {
  const path = await pathOf(slug, 'suspension');
  const organization = await callApi<Organization>('PUT', path, { body: { reason } });
  const { suspendedAt, suspensionReason } = organization;
  return {
    json: organization,
    text: [
      `${slug} has been suspended since ${formatTime(suspendedAt)}: it can begin and continue no runs.`,
      suspensionReason
        ? `Its callers are told the reason: ${oneLine(suspensionReason)}`
        : 'No reason is given.',
      `Its runs under way go on. To cancel them: weir runs cancel --organization ${slug} --status started`,
      `To let it go on: weir operator org resume ${slug}`,
    ].join('\n'),
  };
}

/** Lets a suspended organization begin and continue runs again. */
async function resume(slug: string): Promise<CommandResult> {
  const organization = await callApi<Organization>('DELETE', await pathOf(slug, 'suspension'));
  return { json: organization, text: `${slug} is not suspended: it can begin and continue runs.` };
}

async function pathOf(slug: string, what: string): Promise<string> {
  return `${PATH}/${(await getOrganization(slug)).id}/${what}`;
}
