// A flow in MCP tool responses, and how tools find, lock and edit its draft.
import { z } from 'zod';
import type { FlowDesign } from '../../db/flows/flow-designs.ts';
import type { FlowDefinition, Json } from '../../flow/definition.ts';
import type { ApiDeps } from '../deps.ts';
import { findDraftProblems } from '../flows/find-draft-problems.ts';
import type { ReadCode } from '../flows/read-code-of.ts';
import { draftProblems, storedSteps } from '../flows/schemas.ts';

/** The full steps, as in flow files. */
export const steps = storedSteps.meta({
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
});

/** Makes a tool's response from a flow and its draft. */
export async function toFlowDesign(
  { config }: Pick<ApiDeps, 'config'>,
  flow: FlowDesign,
  draft: FlowDefinition,
  readCode: ReadCode,
): Promise<z.infer<typeof flowDesign>> {
  const path = `${flow.organization_slug}/${flow.project_slug}/${flow.slug}`;
  return {
    flow_id: flow.id,
    slug: flow.slug,
    name: flow.name,
    description: flow.description,
    execute_url: new URL(`../seq/${path}/execute`, config.mcp.url).href,
    production_version: flow.production_version,
    production_version_id: flow.production_version_id,
    latest_version: flow.latest_version,
    has_unpublished_changes: flow.draft_is_latest !== true,
    problems: await findDraftProblems(draft, readCode),
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
