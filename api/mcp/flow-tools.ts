// create_flow, get_flow, update_flow and delete_flow
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { measureDraft } from '../../db/flows/flow-designs.ts';
import { findVersionById, getVersion, listVersions } from '../../db/flows/versions.ts';
import { findUserProject } from '../../db/tenants/projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { requireRole } from '../auth/authorize.ts';
import { draftETag } from '../flows/flow-etag.ts';
import { findModelProviders } from '../flows/list-models.ts';
import { codeReaderOf } from '../flows/read-code-of.ts';
import { createFlow, removeFlow, renameFlow } from '../flows/recorded-flow-writes.ts';
import { descriptionSchema, nameSchema, slugSchema } from '../flows/written-flow.ts';
import { describeTestCases, listedTestCase } from '../test-cases/test-case.ts';
import {
  flowDesign,
  loadVisibleDraft,
  requireFlowDesign,
  steps,
  toFlowDesign,
  withLockedFlow,
} from './flow-design.ts';
import { requireLockedProject } from './project-tools.ts';
import { COPIES, defineTool, flowId, projectId, versionId } from './tool.ts';

const VERSIONS_MAX = 100;

const createFlowTool = defineTool({
  name: 'create_flow',
  title: 'Create a flow',
  description:
    'Creates a flow with an empty draft: fill it with write_draft. The slug is the last part of the URL that callers use; it cannot be changed later.',
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: false },
  input: z.strictObject({
    project_id: projectId,
    name: nameSchema,
    slug: slugSchema.meta({
      description: 'Lower-case letters, digits and single hyphens, such as sort-mail.',
    }),
  }),
  output: z.strictObject({ flow_id: z.string(), slug: z.string(), name: z.string() }),
  async run(call, { project_id, name, slug }) {
    const { id } = await inTransaction(call.deps.db, async (tx) => {
      const project = await requireLockedProject(tx, call, project_id);
      return createFlow(tx, call.author, project, { name, slug });
    });
    return { flow_id: id, slug, name };
  },
});

const getFlowTool = defineTool({
  name: 'get_flow',
  title: 'Read a flow',
  description:
    'Answers the whole draft of a flow, or one of its versions, with every prompt in full, and lists its versions and test cases.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({
    flow_id: flowId,
    version_id: versionId
      .optional()
      .meta({ description: 'version_id of the version to read; the draft when absent.' }),
  }),
  output: flowDesign.extend({
    project_id: z.string(),
    draft_etag: z.string(),
    steps,
    versions: z
      .array(
        z.strictObject({
          version_id: z.string(),
          version: z.int(),
          note: z.string(),
          published_at: z.string(),
        }),
      )
      .meta({ description: `Newest first, ${VERSIONS_MAX} at most.` }),
    test_cases: z.array(listedTestCase),
  }),
  async run(call, { flow_id, version_id }) {
    const { db } = call.deps;
    const flow = await requireFlowDesign(call, flow_id);
    const asked = version_id === undefined ? undefined : await findVersionById(db, flow.id, version_id);
    if (version_id !== undefined && !asked)
      throw new ServiceError(
        'NOT_FOUND',
        'The flow has no such version: call get_flow without version_id to list its versions.',
      );
    const versions = await listVersions(db, flow.id, { limit: VERSIONS_MAX });
    // These acquire permits of their own, and return cut texts.
    const organizationId = flow.organization_id;
    const shownFlow = { flowId: flow.id, organizationId };
    const testCases = await describeTestCases(call.deps, shownFlow, call.gone);
    const bytes = (await measureDraft(db, flow.id)) + (asked?.bytes ?? 0);
    await call.reserveAnswer(organizationId, COPIES * bytes);
    const draft = await loadVisibleDraft(db, flow.id);
    const shown = asked ? (await getVersion(db, flow.id, asked.version)).definition : draft;
    const readCode = codeReaderOf(call.deps, organizationId, call.gone);
    const providers = await findModelProviders(call.deps, organizationId);
    return {
      ...(await toFlowDesign(call.deps, flow, draft, { providers, readCode })),
      project_id: flow.project_id,
      draft_etag: draftETag(draft),
      steps: shown.steps,
      versions: versions.map((row) => ({
        version_id: row.id,
        version: row.version,
        note: row.note,
        published_at: row.created_at.toISOString(),
      })),
      test_cases: testCases,
    };
  },
});

const updateFlow = defineTool({
  name: 'update_flow',
  title: 'Rename or describe a flow',
  description: 'Sets the name or the description of a flow, at once. Its slug, and so its URL, stays.',
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({
    flow_id: flowId,
    name: nameSchema.optional(),
    description: descriptionSchema.optional(),
  }),
  output: z.strictObject({ flow_id: z.string(), name: z.string(), description: z.string() }),
  async run(call, { flow_id, name, description }) {
    if (name === undefined && description === undefined)
      throw new ServiceError('VALIDATION_ERROR', 'Send name or description.');
    const named = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
    const flow = await withLockedFlow(call, flow_id, async (tx, flow) => {
      await renameFlow(tx, call.author, flow, named, { tool: 'update_flow' });
      return { name: flow.name, description: flow.description, ...named };
    });
    return { flow_id, ...flow };
  },
});

const deleteFlowTool = defineTool({
  name: 'delete_flow',
  title: 'Delete a flow',
  description: 'Deletes a flow for good; runs under way go on. Needs an owner or admin of the organization.',
  scope: 'flows:publish',
  hints: { readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({
    flow_id: flowId,
    confirm: z.string().meta({ description: 'The slug of the flow, once more.' }),
  }),
  output: z.strictObject({ flow_id: z.string(), slug: z.string() }),
  run: (call, { flow_id, confirm }) =>
    withLockedFlow(call, flow_id, async (tx, { id, slug, project_id, organizationId }) => {
      const project = await findUserProject(tx, call.user, project_id);
      requireRole(project?.role ?? 'member', 'admin');
      if (confirm !== slug)
        throw new ServiceError('VALIDATION_ERROR', `confirm: must be the slug of the flow, ${slug}`);
      await removeFlow(tx, call.author, { id, organizationId });
      return { flow_id, slug };
    }),
});

export const flowTools = [createFlowTool, getFlowTool, updateFlow, deleteFlowTool];
