// publish_version, set_production_version and restore_version
import { z } from 'zod';
import type { Db, Tx } from '../../db/connect.ts';
import { findVersionById, getVersion } from '../../db/flows/versions.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { requireVisibleFlow } from '../auth/caller.ts';
import { assessDraft } from '../flows/assess-draft.ts';
import { requireComplete } from '../flows/draft-problems.ts';
import { findModelProviders } from '../flows/list-models.ts';
import { codeReaderAfterWrite } from '../flows/read-code-of.ts';
import { promoteFlow, publishChecked, publishFlow } from '../flows/recorded-flow-writes.ts';
import { draftNotes, noteSchema } from '../flows/schemas.ts';
import { editDraft, editedDraft, requireFlowDesign, withLockedFlow } from './flow-design.ts';
import { defineTool, flowId, versionId } from './tool.ts';

const publish = defineTool({
  name: 'publish_version',
  title: 'Publish the draft',
  description:
    'Publishes the draft as a version that never changes. An unchanged draft is not published again. Callers run it only after set_production_version.',
  scope: 'flows:publish',
  hints: { readOnlyHint: false, destructiveHint: false },
  input: z.strictObject({
    flow_id: flowId,
    note: noteSchema.meta({ description: 'What changed.' }),
  }),
  output: z.strictObject({
    flow_id: z.string(),
    version_id: z.string(),
    version: z.int(),
    notes: draftNotes,
  }),
  async run(call, { flow_id, note }) {
    const { organizationId } = await requireVisibleFlow(call.deps, flow_id, call.access);
    const providers = await findModelProviders(call.deps, organizationId);
    const published = await publishChecked(call.deps, { id: flow_id, organizationId }, call.gone, {
      hold: (bytes) => call.reserveAnswer(organizationId, bytes),
      check: (draft) => requireComplete(call.deps, organizationId, draft, call.gone),
      publish: (checked) =>
        withLockedFlow(call, flow_id, async (tx, flow) => {
          const { version } = await publishFlow(tx, call.author, flow, note, checked);
          return getVersion(tx, flow_id, version);
        }),
    });
    const readCode = codeReaderAfterWrite(call.deps, organizationId);
    const { notes } = await assessDraft(call.deps, providers, published.definition, readCode);
    return { flow_id, version_id: published.id, version: published.version, notes };
  },
});

const setProduction = defineTool({
  name: 'set_production_version',
  title: 'Set the production version',
  description:
    'Callers who do not name a version run this one from now on. An earlier version can be set again.',
  scope: 'flows:publish',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({ flow_id: flowId, version_id: versionId }),
  output: z.strictObject({
    flow_id: z.string(),
    version_id: z.string(),
    version: z.int(),
    previous_version: z.int().nullable().meta({ description: 'The version that callers ran before.' }),
  }),
  async run(call, { flow_id, version_id }) {
    const { version, previous } = await withLockedFlow(call, flow_id, async (tx, flow) => {
      const found = await requireVersion(tx, flow_id, version_id);
      await promoteFlow(tx, call.author, flow, found.version);
      return { version: found.version, previous: flow.production_version };
    });
    return { flow_id, version_id, version, previous_version: previous };
  },
});

const restore = defineTool({
  name: 'restore_version',
  title: 'Go back to a version',
  description: 'Replaces the draft by a version. Unpublished edits are lost.',
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({ flow_id: flowId, version_id: versionId }),
  output: editedDraft.omit({ step_id: true }),
  async run(call, { flow_id, version_id }) {
    const flow = await requireFlowDesign(call, flow_id);
    const { version, bytes } = await requireVersion(call.deps.db, flow.id, version_id);
    const restoreIn = async (_draft: FlowDefinition, tx: Tx) => {
      const { definition } = await getVersion(tx, flow.id, version);
      return { definition, stepId: version_id };
    };
    const { step_id: _, ...edited } = await editDraft(call, flow_id, 'restore_version', restoreIn, bytes);
    return edited;
  },
});

export const versionTools = [publish, setProduction, restore];

async function requireVersion(tx: Db | Tx, flowId: string, versionId: string) {
  const found = await findVersionById(tx, flowId, versionId);
  if (found) return found;
  throw new ServiceError(
    'NOT_FOUND',
    'The flow has no such version: get_flow lists its versions with their ids.',
  );
}
