import { z } from 'zod';
import type { Tx } from '../../db/connect.ts';
import { measureDraft } from '../../db/flows/flow-designs.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { findDraftProblems } from '../flows/find-draft-problems.ts';
import { findModelProviders } from '../flows/find-model-providers.ts';
import { noteModels } from '../flows/note-models.ts';
import { noteUnusedFields } from '../flows/note-unused-fields.ts';
import { codeReaderAfterWrite } from '../flows/read-code-of.ts';
import { replaceDraft } from '../flows/recorded-flow-writes.ts';
import { draftProblems } from '../flows/schemas.ts';
import { loadVisibleDraft, requireFlowDesign, withLockedFlow } from './require-flow-design.ts';
import { outlineOf, stepOutline } from './shapes.ts';
import type { McpCall } from './tool.ts';
import { workOnDraft } from './work-on-draft.ts';

/** The response of the tools that edit a draft. */
export const editedDraft = z.strictObject({
  flow_id: z.string(),
  step_id: z.string().meta({ description: 'The step that was edited.' }),
  steps: z.array(stepOutline).meta({ description: 'The steps of the draft after the edit.' }),
  problems: draftProblems,
  notes: z
    .array(z.string())
    .meta({ description: 'What would fail when callers run the flow, and fields that have no effect.' }),
});

type Edited = { definition: FlowDefinition; stepId: string };

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
  return workOnDraft(call, organizationId, bytes, async () => {
    const { definition, stepId } = await withLockedFlow(call, flowId, async (tx, flow) => {
      const edited = await edit(await loadVisibleDraft(tx, flow.id), tx);
      await replaceDraft(tx, call.author, flow, edited.definition, { tool, step_id: edited.stepId });
      return edited;
    });
    return {
      flow_id: flowId,
      step_id: stepId,
      steps: outlineOf(definition),
      problems: await findDraftProblems(definition, codeReaderAfterWrite(deps, organizationId)),
      notes: [...noteModels(deps, providers, definition), ...noteUnusedFields(definition)],
    };
  });
}
