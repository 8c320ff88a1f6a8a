import type { Command } from 'commander';
import type { z } from 'zod';
import type { organizationRecord, projectRecord } from '../../api/organizations/schemas.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { getOrganization, getProject } from '../api/get-resource.ts';
import { type Deletion, describeDeletion, requireConfirmation } from '../terminal/deletion.ts';
import {
  type NewProjectPath,
  parseName,
  parseNewProjectPath,
  parsePath,
} from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, printed } from '../terminal/print.ts';

const PATH = '/api/v1/projects';

type Organization = z.output<typeof organizationRecord>;
type Project = z.output<typeof projectRecord>;

export function addProjectCommands(program: Command): void {
  const project = program.command('project').description('create, list and delete projects');
  project
    .command('create')
    .description('create a project in an organization')
    .argument('<org/project>', 'slug of the organization, and one for the new project', parseNewProjectPath)
    .option('--name <name>', 'display name (default: the slug)', parseName)
    .option('--description <text>', 'what the project is for')
    .addHelpText('after', '\nExample:\n  weir project create acme/main')
    .action(printed(create));
  project
    .command('list')
    .description('list the projects you can see')
    .argument('[org]', 'list only the projects of this organization')
    .addHelpText('after', '\nExample:\n  weir project list acme')
    .action(printed(list));
  project
    .command('delete')
    .description('delete a project with its flows and API keys, and cancel its runs and deliveries')
    .argument('<org/project>', 'path of the project', parsePath('org/project'))
    .requiredOption('--confirm <slug>', 'repeat the slug of the project: deletion cannot be undone')
    .addHelpText('after', '\nExample:\n  weir project delete acme/main --confirm main')
    .action(printed(remove));
}

async function create(
  { organization, slug }: NewProjectPath,
  options: { name?: string; description?: string },
): Promise<CommandResult> {
  const { id: organization_id } = await getOrganization(organization);
  const details = { slug, name: options.name ?? slug, description: options.description ?? '' };
  const created = await callApi<Project>('POST', PATH, { body: { ...details, organization_id } });
  return { json: created, text: `Created project ${organization}/${slug}.` };
}

async function list(slug: string | undefined): Promise<CommandResult> {
  const organizations =
    slug === undefined
      ? await listAll<Organization>('/api/v1/organizations', 'organizations')
      : [await getOrganization(slug)];
  const query = slug === undefined ? {} : { organization_id: organizations[0]?.id };
  const projects = (await listAll<Project>(PATH, 'projects', { query })).map((project) => ({
    organization: organizations.find(({ id }) => id === project.organizationId)?.slug,
    ...project,
  }));
  return {
    json: projects,
    text: formatTable(
      ['project', 'name'],
      projects.map((project) => [`${project.organization}/${project.slug}`, project.name]),
      'There are no projects. Create one with: weir project create <org/project>',
    ),
  };
}

async function remove(path: string, { confirm }: { confirm: string }): Promise<CommandResult> {
  requireConfirmation(path.split('/')[1] ?? '', confirm);
  const { id } = await getProject(path);
  return describeDeletion(`project ${path}`, await callApi<Deletion>('DELETE', `${PATH}/${id}`));
}
