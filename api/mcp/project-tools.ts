// list_projects and hydrate_project
import { z } from 'zod';
import { listProjectsOf } from '../../db/of-user.ts';
import { defineTool } from './tool.ts';

const PROJECTS_MAX = 200;

const listProjects = defineTool({
  name: 'list_projects',
  title: 'List projects',
  description:
    'The projects you may work in, with the organization and your role there. Begin here: most other tools need an id that hydrate_project gives for one of them.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({
    after: z
      .string()
      .max(200)
      .optional()
      .meta({ description: 'next of the page before, when there was one.' }),
  }),
  output: z.strictObject({
    projects: z.array(
      z.strictObject({
        project_id: z.uuid(),
        slug: z.string(),
        name: z.string(),
        description: z.string(),
        organization_id: z.uuid(),
        organization_slug: z.string(),
        role: z.enum(['owner', 'admin', 'member']),
      }),
    ),
    next: z.string().nullable().meta({ description: 'Pass it as `after` for more; null at the end.' }),
  }),
  async run({ deps, user }, { after }) {
    const rows = await listProjectsOf(deps.db, user.userId, { after, limit: PROJECTS_MAX + 1 });
    const page = rows.slice(0, PROJECTS_MAX);
    const last = page.at(-1);
    return {
      projects: page.map((row) => ({
        project_id: row.id,
        slug: row.slug,
        name: row.name,
        description: row.description,
        organization_id: row.organization_id,
        organization_slug: row.organization_slug,
        role: row.role,
      })),
      next: rows.length > page.length && last ? `${last.organization_slug}/${last.slug}` : null,
    };
  },
});

export const projectTools = [listProjects];
