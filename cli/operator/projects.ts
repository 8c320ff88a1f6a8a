import type { Command } from 'commander';
import { addProject, removeProject } from '../../api/organizations/recorded-organizations.ts';
import { toProject } from '../../api/organizations/to-records.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { listOrganizations, lockOrganization } from '../../db/tenants/organizations.ts';
import { listProjects } from '../../db/tenants/projects.ts';
import { requireConfirmation } from '../terminal/deletion.ts';
import {
  type NewProjectPath,
  parseName,
  parseNewProjectPath,
  parsePath,
} from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable } from '../terminal/print.ts';
import { finishDeletion } from './finish-deletion.ts';
import { getOrganization, getProject, onDatabase, operator } from './on-database.ts';

export function addProjectCommands(program: Command): void {
  const project = program.command('project').description('create, list and delete projects');
  project
    .command('create')
    .description('create a project in an existing organization')
    .argument('<org/project>', 'slug of the organization, and one for the new project', parseNewProjectPath)
    .option('--name <name>', 'display name (default: the slug)', parseName)
    .option('--description <text>', 'what the project is for')
    .action(onDatabase(create));
  project
    .command('list')
    .description('list projects by organization')
    .argument('[org]', 'list only the projects of this organization')
    .action(onDatabase(list));
  project
    .command('delete')
    .description('delete a project with its flows and API keys, and cancel its runs and deliveries')
    .argument('<org/project>', 'path of the project', parsePath('org/project'))
    .requiredOption('--confirm <slug>', 'repeat the slug of the project: deletion cannot be undone')
    .action(onDatabase(remove));
}

async function create(
  db: Db,
  { organization, slug }: NewProjectPath,
  options: { name?: string; description?: string },
): Promise<CommandResult> {
  const { id: organizationId } = await getOrganization(db, organization);
  const details = { name: options.name ?? slug, slug, description: options.description ?? '' };
  const row = await inTransaction(db, (tx) => addProject(tx, operator(), { organizationId, ...details }));
  return { json: { organization, ...toProject(row) }, text: `Created project ${organization}/${slug}.` };
}

async function list(db: Db, slug: string | undefined): Promise<CommandResult> {
  const organizations = slug === undefined ? await listOrganizations(db) : [await getOrganization(db, slug)];
  const projects = [];
  for (const organization of organizations)
    for (const row of await listProjects(db, organization.id))
      projects.push({ organization: organization.slug, ...toProject(row) });
  return {
    json: projects,
    text: formatTable(
      ['project', 'name'],
      projects.map((project) => [`${project.organization}/${project.slug}`, project.name]),
      'There are no projects. Create one with: weir operator project create <org/project>',
    ),
  };
}

async function remove(db: Db, path: string, { confirm }: { confirm: string }): Promise<CommandResult> {
  const { id, slug, organization_id: organizationId } = await getProject(db, path);
  requireConfirmation(slug, confirm);
  const { projectIds, cancelled } = await inTransaction(db, async (tx) => {
    await lockOrganization(tx, organizationId);
    return removeProject(tx, operator(), organizationId, id);
  });
  return finishDeletion(db, `project ${path}`, { id, projectIds, cancelled });
}
