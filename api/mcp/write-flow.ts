// Writes of flows by tools: one at a time per flow, by members of any role, each with its entry in the audit log.
import { z } from 'zod';
import { inTransaction, type Tx } from '../../db/connect.ts';
import { type FlowDesign, findFlowDesign, lockFlowDesign } from '../../db/flows/flow-designs.ts';
import { updateDraft } from '../../db/flows/flows.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findTreeProblems } from '../../flow/find-tree-problems.ts';
import { listBlocks } from '../../flow/plan.ts';
import { formatPath } from '../../flow/step-path.ts';
import { findUnknownVariables } from '../../flow/template.ts';
import { requireUsableSchema } from '../../json-schema/require-usable-schema.ts';
import { FLOW_FILE_MAX_BYTES } from '../flows/flow-file.ts';
import { outlineOf, problems, stepOutline } from './shapes.ts';
import type { ToolCall } from './tool.ts';

/** Of one prompt. */
const UNKNOWN_SHOWN = 5;

/** A flow that the caller may see. Throws NOT_FOUND, the same for unknown and foreign ids. */
export async function requireFlowDesign({ deps, user }: ToolCall, flowId: string): Promise<FlowDesign> {
  return (await findFlowDesign(deps.db, user.userId, flowId)) ?? unknownFlow(flowId);
}

/** Does `work` in one transaction, in which nobody else changes the flow. `work` records what it changes. */
export function writeFlow<T>(
  { deps, user }: ToolCall,
  flowId: string,
  work: (tx: Tx, flow: FlowDesign & { organizationId: string }) => Promise<T>,
): Promise<T> {
  return inTransaction(deps.db, async (tx) => {
    const flow = (await lockFlowDesign(tx, user.userId, flowId)) ?? unknownFlow(flowId);
    return work(tx, { ...flow, organizationId: flow.organization_id });
  });
}

/** What tools that edit a draft answer. */
export const editedDraft = z.strictObject({
  flow_id: z.string(),
  step_id: z.string().meta({ description: 'The step that the call was about.' }),
  steps: z.array(stepOutline).meta({ description: 'The steps of the draft now.' }),
  problems,
  notes: z
    .array(z.string())
    .meta({ description: 'What may not be meant; the draft can be published with it.' }),
});

/**
 * Replaces the draft by what `edit` makes of it, and of which step. A draft may be unfinished, but not wrong: throws
 * INVALID_TREE for what no further edit could complete.
 */
export async function editDraft(
  call: ToolCall,
  flowId: string,
  tool: string,
  edit: (draft: FlowDefinition) => { definition: FlowDefinition; stepId: string },
): Promise<z.infer<typeof editedDraft>> {
  const { definition, stepId } = await writeFlow(call, flowId, async (tx, { draft, organizationId }) => {
    const edited = edit(draft);
    requireSound(edited.definition);
    await updateDraft(tx, flowId, edited.definition);
    const details = { tool, step_id: edited.stepId };
    await recordChange(tx, call.author, { organizationId, action: 'flow.edit', resourceId: flowId, details });
    return edited;
  });
  return {
    flow_id: flowId,
    step_id: stepId,
    steps: outlineOf(definition),
    problems: problemsOf(definition),
    notes: notesOf(definition),
  };
}

function notesOf(definition: FlowDefinition): string[] {
  return listBlocks(definition).flatMap(({ step_id, processor_type, prompt }) => {
    const unknown = processor_type === 'llm' ? findUnknownVariables(prompt ?? '') : [];
    if (unknown.length === 0) return [];
    const shown = unknown.slice(0, UNKNOWN_SHOWN).join(', ');
    return `The prompt of ${step_id} sends ${shown} as it stands: variables are {{message}}, {{previous_output}} and {{parameters.<key>}}.`;
  });
}

/** What is to be done before a draft can run, with paths for people. */
export function problemsOf(definition: FlowDefinition): z.infer<typeof problems> {
  return findTreeProblems(definition).map(({ path, message }) => ({ path: formatPath(path), message }));
}

/** What is wrong with the JSON Schemas of drafts from before they were checked as they are now. */
function listHeavySchemas(definition: FlowDefinition): z.infer<typeof problems> {
  return listBlocks(definition).flatMap((block) =>
    (['inputSchema', 'outputSchema'] as const).flatMap((field) => {
      try {
        if (block[field] !== undefined) requireUsableSchema(block[field]);
        return [];
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return [{ path: `${block.step_id}.${field}`, message: error.message }];
      }
    }),
  );
}

/** Throws INVALID_TREE with each problem. The JSON Schemas of a draft were compiled when they came into it. */
export function requireComplete(draft: FlowDefinition): void {
  const problems = [...problemsOf(draft), ...listHeavySchemas(draft)];
  const lines = problems.map(({ path, message }) => `${path}: ${message}`);
  if (lines.length > 0)
    throw new ServiceError('INVALID_TREE', `The draft is not complete.\n${lines.join('\n')}`);
}

function requireSound(definition: FlowDefinition): void {
  const wrong = findTreeProblems(definition).filter(({ incomplete }) => !incomplete);
  if (wrong.length > 0)
    throw new ServiceError(
      'INVALID_TREE',
      `The draft stays as it was: ${wrong.map(({ path, message }) => `${formatPath(path)}: ${message}`).join(' ')}`,
    );
  if (Buffer.byteLength(JSON.stringify(definition)) > FLOW_FILE_MAX_BYTES)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `The draft stays as it was: a flow has at most ${FLOW_FILE_MAX_BYTES} bytes.`,
    );
}

function unknownFlow(flowId: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `You can see no flow with the id ${flowId}: hydrate_project lists those of a project.`,
  );
}
