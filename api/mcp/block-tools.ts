// add_block, update_block, update_block_draft, update_block_output_schema, move_block, delete_block
import { z } from 'zod';
import { type JsonSchema, PROCESSOR_TYPES, type SequentialStep, type Step } from '../../flow/definition.ts';
import {
  addBlock,
  changeStep,
  moveStep,
  removeLoop,
  removeStep,
  renameBranches,
  type StepPlace,
  setLoop,
} from '../../flow/edit-tree.ts';
import { ServiceError } from '../../flow/errors.ts';
import { BRANCHES_MAX } from '../../flow/limits.ts';
import { requireVisibleFlow } from '../auth/caller.ts';
import {
  blockFields,
  branchName,
  loopFields,
  nameSchema,
  parsedJson,
  processorConfig,
} from '../flows/written-flow.ts';
import { fewEntries } from '../http/zod-input.ts';
import { editDraft, editedDraft } from './flow-design.ts';
import { defineTool, flowId, type McpCall, placeFields, stepId } from './tool.ts';

const { model, prompt } = blockFields;
/** Inline, not a shared component: some clients do not follow a $ref in the input of a tool. */
const schemaObject = z
  .looseObject({}, { error: 'must be a JSON Schema as an object, such as {"type": "object"}' })
  .meta({ description: 'A JSON Schema (2020-12) as an object.' }) as unknown as z.ZodType<JsonSchema>;
const loop = z.strictObject(loopFields(parsedJson), {
  error: ({ code }) =>
    code === 'invalid_type' ? 'must be an object: {}, with max_iterations, or with until' : undefined,
});
const processorType = z.enum(PROCESSOR_TYPES).meta({
  description:
    'llm: asks a model, which update_block sets. code: runs JavaScript. passthrough: answers its input.',
});
const NOT_DESTROYED = 'Only the draft changes.';

const addBlockTool = defineTool({
  name: 'add_block',
  title: 'Add a block',
  description: `Adds a block to the draft of a flow. An llm block also needs a model: set it with update_block. ${NOT_DESTROYED}`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: false },
  input: z.strictObject({
    flow_id: flowId,
    name: nameSchema.meta({ description: 'The step_id is made from it.' }),
    processor_type: processorType,
    prompt,
    ...placeFields,
  }),
  output: editedDraft,
  run: (call, { flow_id, target_id, direction, name, processor_type, prompt }) => {
    const block = { name, processor_type, ...(prompt !== undefined && { prompt }) };
    return editDraft(call, flow_id, 'add_block', (draft) =>
      addBlock(draft, block, toPlace(target_id, direction)),
    );
  },
});

const updateBlock = defineTool({
  name: 'update_block',
  title: 'Change a block',
  description: `Sets the given fields of a block in the draft; null removes a field. Parallel and loop steps have only the fields name, branches and loop. ${NOT_DESTROYED}`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({
    flow_id: flowId,
    step_id: stepId,
    name: nameSchema.optional(),
    processor_type: processorType.optional(),
    model: model.nullable().meta({ description: 'provider/model, from list_models.' }),
    prompt: prompt.nullable(),
    inputSchema: schemaObject.nullish(),
    outputSchema: schemaObject.nullish(),
    branches: fewEntries(BRANCHES_MAX, z.record(z.string(), branchName)).optional().meta({
      description: 'Renames branches of a parallel step: old name to new name.',
    }),
    processor_config: processorConfig.nullish().meta({ description: 'Replaces the whole object.' }),
    loop: loop.nullish().meta({
      description:
        'Puts the step into a new loop step, which runs it for each item of its input, or until a condition holds. With the step_id of a loop step: changes that step; null replaces it by the steps inside it.',
    }),
  }),
  output: editedDraft,
  async run(call, { flow_id, step_id, loop, branches, ...fields }) {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    if (given.length === 0 && loop === undefined && branches === undefined)
      throw new ServiceError('VALIDATION_ERROR', 'Send at least one field to set, such as model.');
    if (typeof fields.model === 'string') requireModel(call, fields.model);
    await requireSchema(call, flow_id, { field: 'inputSchema', schema: fields.inputSchema });
    await requireSchema(call, flow_id, { field: 'outputSchema', schema: fields.outputSchema });
    const set = (step: Step) => {
      if (given.some(([key]) => key !== 'name')) requireBlock(step);
      const kept = Object.entries({ ...step, ...Object.fromEntries(given) });
      const changed = Object.fromEntries(kept.filter(([, value]) => value !== null)) as Step;
      return branches ? renameBranches(changed, branches) : changed;
    };
    return editDraft(call, flow_id, 'update_block', (draft) => {
      const changed = changeStep(draft, step_id, set);
      if (loop === undefined) return { definition: changed, stepId: step_id };
      const definition = loop === null ? removeLoop(changed, step_id) : setLoop(changed, step_id, loop);
      return { definition, stepId: step_id };
    });
  },
});

const updateBlockDraft = defineTool({
  name: 'update_block_draft',
  title: 'Write a block’s prompt or code',
  description: `Replaces the prompt of an llm block or the source of a code block in the draft. ${NOT_DESTROYED}`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({
    flow_id: flowId,
    step_id: stepId,
    content: prompt.unwrap(),
  }),
  output: editedDraft,
  run: (call, { flow_id, step_id, content }) =>
    change(call, flow_id, step_id, 'update_block_draft', (step) => ({
      ...requireBlock(step),
      prompt: content,
    })),
});

const updateBlockOutputSchema = defineTool({
  name: 'update_block_output_schema',
  title: 'Set a block’s output schema',
  description: `Sets the JSON Schema that the output of a block in the draft must match; a model is told the schema. ${NOT_DESTROYED}`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({ flow_id: flowId, step_id: stepId, content: schemaObject }),
  output: editedDraft,
  async run(call, { flow_id, step_id, content }) {
    await requireSchema(call, flow_id, { field: 'content', schema: content });
    return change(call, flow_id, step_id, 'update_block_output_schema', (step) => ({
      ...requireBlock(step),
      outputSchema: content,
    }));
  },
});

const moveBlock = defineTool({
  name: 'move_block',
  title: 'Move a step',
  description: `Moves a step of the draft, with the steps inside it. A branch, parallel or loop step that is empty then is removed. ${NOT_DESTROYED}`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: false },
  input: z.strictObject({
    flow_id: flowId,
    step_id: stepId,
    target_id: placeFields.target_id.meta({ description: 'As in add_block.' }),
    direction: placeFields.direction.meta({ description: 'As in add_block.' }),
  }),
  output: editedDraft,
  run: (call, { flow_id, step_id, target_id, direction }) =>
    editDraft(call, flow_id, 'move_block', (draft) => ({
      definition: moveStep(draft, step_id, toPlace(target_id, direction)),
      stepId: step_id,
    })),
});

const deleteBlock = defineTool({
  name: 'delete_block',
  title: 'Delete a step',
  description: `Deletes a step of the draft, with the steps inside it. A branch, parallel or loop step that is empty then is removed. ${NOT_DESTROYED}`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({ flow_id: flowId, step_id: stepId }),
  output: editedDraft,
  run: (call, { flow_id, step_id }) =>
    editDraft(call, flow_id, 'delete_block', (draft) => ({
      definition: removeStep(draft, step_id),
      stepId: step_id,
    })),
});

export const blockTools = [
  addBlockTool,
  updateBlock,
  updateBlockDraft,
  updateBlockOutputSchema,
  moveBlock,
  deleteBlock,
];

function toPlace(target: string | undefined, direction: StepPlace['direction']): StepPlace {
  if (direction === 'bottom' && target === undefined)
    throw new ServiceError(
      'VALIDATION_ERROR',
      'direction bottom needs target_id: the step to which the block is parallel.',
    );
  return { target, direction };
}

function change(call: McpCall, flowId: string, stepId: string, tool: string, make: (step: Step) => Step) {
  return editDraft(call, flowId, tool, (draft) => ({ definition: changeStep(draft, stepId, make), stepId }));
}

function requireBlock(step: Step): SequentialStep {
  if (step.type === 'sequential') return step;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `${step.step_id} is a ${step.type} step: only its name, branches and loop can be set. Change the blocks inside it instead.`,
  );
}

/** Throws VALIDATION_ERROR for a model whose provider the service does not know. */
function requireModel({ deps }: McpCall, model: string): void {
  try {
    deps.registry.capabilities(model);
  } catch (error) {
    if (error instanceof ServiceError) throw new ServiceError('VALIDATION_ERROR', `model: ${error.message}`);
    throw error;
  }
}

/** Throws VALIDATION_ERROR for an invalid JSON Schema. Called before the flow is locked. */
async function requireSchema(
  { deps, access }: McpCall,
  flowId: string,
  { field, schema }: { field: string; schema: JsonSchema | null | undefined },
): Promise<void> {
  if (schema === undefined || schema === null) return;
  const { organizationId } = await requireVisibleFlow(deps, flowId, access);
  await deps.validator
    .of(organizationId)
    .requireValidSchema(schema)
    .catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      throw new ServiceError('VALIDATION_ERROR', `${field}: ${error.message}`);
    });
}
