import type { Command } from 'commander';
import type { z } from 'zod';
import type { organizationRecord } from '../../api/organizations/schemas.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { getOrganization } from '../api/get-resource.ts';
import { type Deletion, describeDeletion, requireConfirmation } from '../terminal/deletion.ts';
import { parseName, parseSlug } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, printed } from '../terminal/print.ts';

const PATH = '/api/v1/organizations';

type Organization = z.output<typeof organizationRecord>;

export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('create, list and delete organizations');
  org
    .command('create')
    .description('create an organization, of which you become the owner')
    .argument('<slug>', 'name in URLs', parseSlug)
    .option('--name <name>', 'display name (default: the slug)', parseName)
    .option('--description <text>', 'what the organization is for')
    .addHelpText('after', '\nExample:\n  weir org create acme --name "Acme Ltd"')
    .action(printed(create));
  org
    .command('list')
    .description('list the organizations you belong to, with your role and their credits')
    .addHelpText('after', '\nExample:\n  weir org list')
    .action(printed(list));
  org
    .command('delete')
    .description('delete an organization with its projects, and cancel their runs and deliveries')
    .argument('<slug>', 'slug of the organization')
    .requiredOption('--confirm <slug>', 'repeat the slug: deletion cannot be undone')
    .addHelpText('after', '\nExample:\n  weir org delete acme --confirm acme')
    .action(printed(remove));
}

async function create(
  slug: string,
  options: { name?: string; description?: string },
): Promise<CommandResult> {
  const body = { slug, name: options.name ?? slug, description: options.description ?? '' };
  const created = await callApi<Organization>('POST', PATH, { body });
  const text = `Created organization ${slug}, which has ${created.credits} credits.`;
  return { json: created, text };
}

async function list(): Promise<CommandResult> {
  const organizations = await listAll<Organization>(PATH, 'organizations');
  return {
    json: organizations,
    text: formatTable(
      ['slug', 'name', 'role', 'credits'],
      organizations.map(({ slug, name, role, credits }) => [slug, name, role, credits]),
      'You belong to no organization. Create one with: weir org create <slug>',
    ),
  };
}

async function remove(slug: string, { confirm }: { confirm: string }): Promise<CommandResult> {
  requireConfirmation(slug, confirm);
  const { id } = await getOrganization(slug);
  return describeDeletion(`organization ${slug}`, await callApi<Deletion>('DELETE', `${PATH}/${id}`));
}
