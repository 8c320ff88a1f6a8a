// list_projects, hydrate_project and list_models
import { z } from 'zod';
import { listFlowDesigns } from '../../db/flows/flow-designs.ts';
import { listUserProjects } from '../../db/tenants/user-projects.ts';
import { toPage } from '../http/page.ts';
import { describeFlows } from './describe-flows.ts';
import { flowDesign, steps } from './flow-design.ts';
import { requireProject } from './require-project.ts';
import { after, projectId } from './shapes.ts';
import { defineTool } from './tool.ts';

const PROJECTS_MAX = 200;
const FLOWS_MAX = 25;
/** Maximum characters of one text, such as a prompt, code, or a description in a schema. */
const TEXT_MAX = 1_000;
/** Maximum JSON characters of the steps of all flows together: an assistant's context is small. */
const ALL_STEPS_MAX_CHARACTERS = 200_000;

const listProjects = defineTool({
  name: 'list_projects',
  title: 'List projects',
  description:
    'Lists the projects you may work in, with the organization and your role there. Begin here: most other tools need an id that hydrate_project answers for a project.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({
    after,
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
    next: z.string().nullable().meta({ description: 'Send it as `after` to get more; null at the end.' }),
  }),
  async run({ deps, user }, { after }) {
    const rows = await listUserProjects(deps.db, user.userId, { after, limit: PROJECTS_MAX + 1 });
    const { page, end } = toPage(rows, PROJECTS_MAX, (row) => `${row.organization_slug}/${row.slug}`);
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
      next: end.nextCursor,
    };
  },
});

const hydrateProject = defineTool({
  name: 'hydrate_project',
  title: 'Load a project',
  description:
    'Answers what you need to know of a project before you work in it: its flows, with their drafts, versions and production versions.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({
    project_id: projectId,
    after,
  }),
  output: z.strictObject({
    project_id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    organization_slug: z.string(),
    flows: z.array(
      flowDesign.extend({
        steps: steps.nullable().meta({
          description: `The draft, with texts over ${TEXT_MAX} characters cut; null where the answer would become too large: get_flow answers it in full.`,
        }),
      }),
    ),
    next: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `after` to get more flows; null at the end.' }),
  }),
  async run(call, { project_id, after = '' }) {
    const { deps, user } = call;
    const project = await requireProject(call, project_id);
    const rows = await listFlowDesigns(deps.db, user.userId, project.id, { after, limit: FLOWS_MAX + 1 });
    const { page, end } = toPage(rows, FLOWS_MAX, ({ slug }) => slug);
    return {
      project_id: project.id,
      slug: project.slug,
      name: project.name,
      description: project.description,
      organization_slug: project.organization_slug,
      flows: await describeFlows(deps, page, { textMax: TEXT_MAX, allMax: ALL_STEPS_MAX_CHARACTERS }),
      next: end.nextCursor,
    };
  },
});

export const projectTools = [listProjects, hydrateProject];
