// A flow in MCP tool responses, and how tools find, lock and edit its draft.
import { z } from 'zod';
import { type Db, inTransaction, type Tx } from '../../db/connect.ts';
import {
  type FlowDesign,
  findFlowDesign,
  loadDrafts,
  lockFlowDesign,
  measureDraft,
} from '../../db/flows/flow-designs.ts';
import type { FlowDefinition, Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { addToLogContext } from '../../platform/observability/log.ts';
import type { ApiDeps } from '../deps.ts';
import { assessDraft } from '../flows/assess-draft.ts';
import { draftETag } from '../flows/flow-etag.ts';
import { findModelProviders, type ModelProviders } from '../flows/list-models.ts';
import { codeReaderAfterWrite, type ReadCode } from '../flows/read-code-of.ts';
import { replaceDraft } from '../flows/recorded-flow-writes.ts';
import { draftNotes, draftProblems } from '../flows/schemas.ts';
import { type McpCall, outlineOf, stepOutline } from './tool.ts';

/** The response of the tools that edit a draft. */
export const editedDraft = z.strictObject({
  flow_id: z.string(),
  step_id: z.string().meta({ description: 'The step that was edited.' }),
  steps: z.array(stepOutline).meta({ description: 'The steps of the draft after the edit.' }),
  draft_etag: z.string(),
  problems: draftProblems,
  notes: draftNotes,
});

export type Edited = { definition: FlowDefinition; stepId: string };

/** The full steps, as in flow files. */
export const steps = z
  .array(z.looseObject({ step_id: z.string(), name: z.string(), type: z.string() }))
  .meta({
    description:
      'The tree of steps: sequential steps are blocks (processor_type, model, prompt, inputSchema, outputSchema, processor_config), parallel steps have branches, loop steps have a body.',
  });

export const flowDesign = z.strictObject({
  flow_id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  execute_url: z
    .string()
    .meta({ description: 'POST {"message": …} with an API key runs the production version.' }),
  production_version: z.int().nullable(),
  production_version_id: z.string().nullable(),
  latest_version: z.int().nullable().meta({ description: 'null before the first publish_version.' }),
  has_unpublished_changes: z.boolean().meta({ description: 'The draft differs from the latest version.' }),
  problems: draftProblems,
  notes: draftNotes,
});

/** Makes a tool's response from a flow and its draft. */
export async function toFlowDesign(
  deps: Pick<ApiDeps, 'config' | 'registry'>,
  flow: FlowDesign,
  draft: FlowDefinition,
  { providers, readCode }: { providers: ModelProviders; readCode: ReadCode },
): Promise<z.infer<typeof flowDesign>> {
  const path = `${flow.organization_slug}/${flow.project_slug}/${flow.slug}`;
  return {
    flow_id: flow.id,
    slug: flow.slug,
    name: flow.name,
    description: flow.description,
    execute_url: new URL(`../seq/${path}/execute`, deps.config.mcp.url).href,
    production_version: flow.production_version,
    production_version_id: flow.production_version_id,
    latest_version: flow.latest_version,
    has_unpublished_changes: flow.draft_is_latest !== true,
    ...(await assessDraft(deps, providers, draft, readCode)),
  };
}

/** Copies the steps of a flow, with every text over `textMax` characters cut and marked. */
export function shortenSteps({ steps }: FlowDefinition, textMax: number): FlowDefinition['steps'] {
  return shorten(steps as Json, textMax) as FlowDefinition['steps'];
}

function shorten(value: Json, textMax: number): Json {
  if (typeof value === 'string' && value.length > textMax)
    return `${value.slice(0, textMax).toWellFormed()}… (cut: get_flow has all ${value.length} characters)`;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => shorten(item, textMax));
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, shorten(child, textMax)]));
}

/**
 * Finds a flow that the caller may see, without its draft. Throws the same NOT_FOUND for unknown flows and for flows
 * of others.
 */
export async function requireFlowDesign({ deps, user }: McpCall, flowId: string): Promise<FlowDesign> {
  const flow = (await findFlowDesign(deps.db, user.userId, flowId)) ?? throwFlowNotFound(flowId);
  deps.memberProfiles.save(flow.organization_id, user);
  addToLogContext({ organization_id: flow.organization_id });
  return flow;
}

/** Loads the draft of a flow. Throws NOT_FOUND when the flow was deleted meanwhile. */
export async function loadVisibleDraft(db: Db | Tx, flowId: string): Promise<FlowDefinition> {
  return (await loadDrafts(db, [flowId])).get(flowId) ?? throwFlowNotFound(flowId);
}

/**
 * Runs `work` in one transaction that locks the flow without loading its draft. `work` records its changes itself.
 */
export function withLockedFlow<T>(
  { deps, user }: McpCall,
  flowId: string,
  work: (tx: Tx, flow: FlowDesign & { organizationId: string }) => Promise<T>,
): Promise<T> {
  return inTransaction(deps.db, async (tx) => {
    const flow = (await lockFlowDesign(tx, user.userId, flowId)) ?? throwFlowNotFound(flowId);
    deps.memberProfiles.save(flow.organization_id, user);
    addToLogContext({ organization_id: flow.organization_id });
    return work(tx, { ...flow, organizationId: flow.organization_id });
  });
}

function throwFlowNotFound(flowId: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `You cannot see a flow with the id ${flowId}: hydrate_project lists the flows of a project.`,
  );
}

/**
 * Replaces a draft by the result of `edit`, which also names the edited step. `more`: bytes that `edit` reads besides
 * the draft. A draft may be incomplete, but not wrong: throws INVALID_TREE when no addition could complete it.
 */
export async function editDraft(
  call: McpCall,
  flowId: string,
  tool: string,
  edit: (draft: FlowDefinition, tx: Tx) => Edited | Promise<Edited>,
  more = 0,
): Promise<z.infer<typeof editedDraft>> {
  const { deps } = call;
  const { id, organization_id: organizationId } = await requireFlowDesign(call, flowId);
  const bytes = (await measureDraft(deps.db, id)) + more;
  // Before the edit: after the commit, nothing may reject the request.
  const providers = await findModelProviders(deps, organizationId);
  await call.reserveAnswer(organizationId, bytes);
  const { definition, stepId } = await withLockedFlow(call, flowId, async (tx, flow) => {
    const edited = await edit(await loadVisibleDraft(tx, flow.id), tx);
    await replaceDraft(tx, call.author, flow, edited.definition, { tool, step_id: edited.stepId });
    return edited;
  });
  return {
    flow_id: flowId,
    step_id: stepId,
    steps: outlineOf(definition),
    draft_etag: draftETag(definition),
    ...(await assessDraft(deps, providers, definition, codeReaderAfterWrite(deps, organizationId))),
  };
}
