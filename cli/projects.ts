import { type Command, InvalidArgumentError } from 'commander';
import { addProject } from '../api/management/recorded-writes.ts';
import { type Db, inTransaction } from '../db/connect.ts';
import { listOrganizations } from '../db/tenants/organizations.ts';
import { listProjects, type ProjectRow } from '../db/tenants/projects.ts';
import { getOrganization } from './find-by-path.ts';
import { formatTable } from './format-table.ts';
import { onDatabase } from './on-database.ts';
import { operator } from './operator.ts';
import { parseName, parseSlug } from './parse-argument.ts';
import type { CommandResult } from './print-result.ts';

export function addProjectCommands(program: Command): void {
  const project = program.command('project').description('projects of an organization');
  project
    .command('create')
    .description('a project of an organization that is there')
    .argument('<org/project>', '', newProjectPath)
    .option('--name <name>', 'the slug when absent', parseName)
    .option('--description <text>')
    .action(onDatabase(create));
  project
    .command('list')
    .description('projects by organization')
    .argument('[org]', 'every organization when absent')
    .action(onDatabase(list));
}

type ProjectPath = { organization: string; slug: string };

async function create(
  db: Db,
  { organization, slug }: ProjectPath,
  options: { name?: string; description?: string },
): Promise<CommandResult> {
  const { id: organizationId } = await getOrganization(db, organization);
  const details = { name: options.name ?? slug, slug, description: options.description ?? '' };
  const row = await inTransaction(db, (tx) => addProject(tx, operator(), { organizationId, ...details }));
  return { json: toJson(organization, row), text: `Created project ${organization}/${slug}.` };
}

async function list(db: Db, slug: string | undefined): Promise<CommandResult> {
  const organizations = slug === undefined ? await listOrganizations(db) : [await getOrganization(db, slug)];
  const projects = [];
  for (const organization of organizations)
    for (const row of await listProjects(db, organization.id)) projects.push(toJson(organization.slug, row));
  return {
    json: projects,
    text: formatTable(
      ['project', 'name'],
      projects.map((project) => [`${project.organization}/${project.slug}`, project.name]),
      'There are no projects: weir project create <org/project>.',
    ),
  };
}

function newProjectPath(text: string): ProjectPath {
  const [organization = '', slug = '', ...rest] = text.split('/');
  if (organization === '' || rest.length > 0)
    throw new InvalidArgumentError('It is of the form org/project.');
  return { organization, slug: parseSlug(slug) };
}

function toJson(organization: string, row: ProjectRow) {
  return {
    id: row.id,
    organization,
    slug: row.slug,
    name: row.name,
    description: row.description,
    createdAt: row.created_at,
  };
}
