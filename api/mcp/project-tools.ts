// list_projects, hydrate_project and list_models
import { z } from 'zod';
import type { Tx } from '../../db/connect.ts';
import { type ListedFlowDesign, listFlowDesigns, loadDrafts } from '../../db/flows/flow-designs.ts';
import {
  findUserProject,
  listUserProjects,
  lockUserProject,
  type UserProject,
} from '../../db/tenants/projects.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { providerOf } from '../../platform/models/registry.ts';
import { addToLogContext } from '../../platform/observability/log.ts';
import type { ApiDeps } from '../deps.ts';
import { findModelProviders, listModels } from '../flows/list-models.ts';
import { codeReaderWhileInTime } from '../flows/read-code-of.ts';
import { toPage } from '../http/page.ts';
import { reserveBytes, toParts } from '../http/reserve-bytes.ts';
import { flowDesign, shortenSteps, steps, toFlowDesign } from './flow-design.ts';
import { after, defineTool, type McpCall, projectId } from './tool.ts';

const price = z.number().meta({ description: 'Credits per million tokens.' });

const listModelsTool = defineTool({
  name: 'list_models',
  title: 'List models',
  description:
    'Lists the models that work in a project, with prices in credits per million tokens (0 with a key of the organization) and abilities. provider/* stands for each other model of the provider. Other models fail unless a caller sends a key.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({ project_id: projectId }),
  output: z.strictObject({
    models: z.array(
      z.strictObject({
        model: z.string(),
        key: z.enum(['service', 'organization']),
        input_price: price,
        output_price: price,
        context_tokens: z.int(),
        images: z.boolean(),
        tools: z.boolean(),
        json_schema: z.boolean(),
      }),
    ),
  }),
  async run(call, { project_id }) {
    const project = await requireProject(call, project_id);
    const models = (await listModels(call.deps, project.organization_id)).flatMap((one) => {
      const { model, key, inputPrice, outputPrice, contextTokens, images, tools, jsonSchema } = one;
      // Nobody has said that such a server runs.
      if (key === null || (key === 'service' && call.deps.config.providers[providerOf(model)]?.unconfigured))
        return [];
      return {
        model,
        key,
        images,
        tools,
        input_price: inputPrice,
        output_price: outputPrice,
        context_tokens: contextTokens,
        json_schema: jsonSchema,
      };
    });
    return { models };
  },
});

export const modelTools = [listModelsTool];

type Described = z.infer<typeof flowDesign> & { steps: FlowDefinition['steps'] | null };

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
    const rows = await listUserProjects(deps.db, user, { after, limit: PROJECTS_MAX + 1 });
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
  description: 'Answers the flows of a project, with their drafts, versions and production versions.',
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
      flows: await describeFlows(
        deps,
        page,
        { textMax: TEXT_MAX, allMax: ALL_STEPS_MAX_CHARACTERS },
        call.gone,
      ),
      next: end.nextCursor,
    };
  },
});

export const projectTools = [listProjects, hydrateProject];

/**
 * Describes flows of one project with their steps, with texts cut to `textMax` characters. Once the steps have
 * `allMax` characters of JSON, further steps are null. Reserves memory for some of the drafts at a time. Throws
 * RATE_LIMITED, and REQUEST_TIMEOUT when `gone` aborts first. Leaves out problems of code whose analysis is late.
 */
export async function describeFlows(
  deps: Pick<ApiDeps, 'db' | 'config' | 'gates' | 'largeValues' | 'registry'>,
  flows: ListedFlowDesign[],
  { textMax, allMax }: { textMax: number; allMax: number },
  gone?: AbortSignal,
): Promise<Described[]> {
  const described: Described[] = [];
  let size = 0;
  const organizationId = flows[0]?.organization_id ?? '';
  const readCode = codeReaderWhileInTime(deps, organizationId);
  const providers = await findModelProviders(deps, organizationId);
  for (const { bytes, part } of toParts(flows)) {
    using _permit = await reserveBytes(deps.gates.answers, organizationId, bytes, gone);
    const drafts = await loadDrafts(
      deps.db,
      part.map(({ id }) => id),
    );
    for (const flow of part) {
      const draft = drafts.get(flow.id);
      // Deleted with its organization after it was listed.
      if (!draft) continue;
      const steps = shortenSteps(draft, textMax);
      size += JSON.stringify(steps).length;
      const design = await toFlowDesign(deps, flow, draft, { providers, readCode });
      described.push({ ...design, steps: size > allMax ? null : steps });
    }
  }
  return described;
}

/**
 * Finds a project that the caller may see. Throws the same NOT_FOUND for unknown projects and for projects of others.
 */
async function requireProject({ deps, user }: McpCall, projectId: string): Promise<UserProject> {
  const project = (await findUserProject(deps.db, user, projectId)) ?? throwProjectNotFound(projectId);
  deps.memberProfiles.save(project.organization_id, user);
  addToLogContext({ organization_id: project.organization_id });
  return project;
}

/** Finds such a project and locks it until the transaction ends. */
export async function requireLockedProject(
  tx: Tx,
  { user }: Pick<McpCall, 'user'>,
  projectId: string,
): Promise<UserProject> {
  const project = (await lockUserProject(tx, user, projectId)) ?? throwProjectNotFound(projectId);
  addToLogContext({ organization_id: project.organization_id });
  return project;
}

function throwProjectNotFound(projectId: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `You cannot see a project with the id ${projectId}: list_projects lists those you can see.`,
  );
}
