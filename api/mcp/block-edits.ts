// The edits of a draft's steps. Each is a tool of its own, or one of the edits that `edit_draft` applies together.
import { z } from 'zod';
import {
  type FlowDefinition,
  type JsonSchema,
  PROCESSOR_TYPES,
  type SequentialStep,
  type Step,
} from '../../flow/definition.ts';
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
import { blockFields, branchName, loopFields, nameSchema, processorConfig } from '../flows/written-flow.ts';
import { fewEntries } from '../http/zod-input.ts';
import type { Edited } from './flow-design.ts';
import { type McpCall, placeFields, stepId } from './tool.ts';

/** `check` refuses input before the flow is locked; `apply` makes the new draft. */
type BlockEdit<I extends z.ZodObject = z.ZodObject> = {
  input: I;
  check?(call: McpCall, organizationId: string, input: z.output<I>): Promise<void>;
  apply(draft: FlowDefinition, input: z.output<I>): Edited;
};

function defineEdit<I extends z.ZodObject>(edit: BlockEdit<I>): BlockEdit {
  return edit as unknown as BlockEdit;
}

const AS_IN_WRITE_DRAFT = 'As in write_draft.';
const A_SCHEMA = 'A JSON Schema.';

const { model, prompt } = blockFields;
/** Inline, not a shared component: some clients do not follow a $ref in the input of a tool. */
export const schemaObject = z
  .looseObject({}, { error: 'must be a JSON Schema as an object, such as {"type": "object"}' })
  .meta({ description: 'A JSON Schema (2020-12).' }) as unknown as z.ZodType<JsonSchema>;
const loop = z.strictObject(loopFields, {
  error: ({ code }) =>
    code === 'invalid_type' ? 'must be an object: {}, with max_iterations, or with until' : undefined,
});
const processorType = z.enum(PROCESSOR_TYPES);
/** Lists an object or null without its fields, which write_draft lists. */
const listedShort = <S extends z.ZodType>(schema: S, description: string) =>
  z
    .unknown()
    .meta({ type: ['object', 'null'] as never, description })
    .pipe(schema);

const addBlockEdit = defineEdit({
  input: z.strictObject({
    name: nameSchema.meta({ description: 'The step_id is made from it.' }),
    processor_type: processorType,
    prompt: prompt.unwrap().optional().meta({ description: AS_IN_WRITE_DRAFT }),
    ...placeFields,
  }),
  apply(draft, { target_id, direction, name, processor_type, prompt }) {
    const block = { name, processor_type, ...(prompt !== undefined && { prompt }) };
    return addBlock(draft, block, toPlace(target_id, direction));
  },
});

const updateBlockEdit = defineEdit({
  input: z.strictObject({
    step_id: stepId,
    name: nameSchema.optional(),
    processor_type: processorType.optional(),
    model: model.unwrap().nullish().meta({ description: 'provider/model, from list_models.' }),
    prompt: prompt.unwrap().nullish().meta({ description: AS_IN_WRITE_DRAFT }),
    inputSchema: listedShort(schemaObject.nullable(), A_SCHEMA).optional(),
    outputSchema: listedShort(schemaObject.nullable(), A_SCHEMA).optional(),
    branches: fewEntries(BRANCHES_MAX, z.record(z.string(), branchName)).optional().meta({
      description: 'Renames branches of a parallel step: old name to new name.',
    }),
    processor_config: listedShort(
      processorConfig.nullable(),
      'As in write_draft. Replaces all its fields.',
    ).optional(),
    loop: listedShort(
      loop.nullable(),
      'max_iterations and until, as in write_draft: puts the step into a new loop, or changes the loop that the step is. null replaces a loop by the steps inside.',
    ).optional(),
  }),
  async check(call, organizationId, { loop, branches, step_id: _, ...fields }) {
    if ([...Object.values(fields), loop, branches].every((value) => value === undefined))
      throw new ServiceError('VALIDATION_ERROR', 'Send at least one field to set, such as model.');
    if (typeof fields.model === 'string') requireModel(call, fields.model);
    await requireSchema(call, organizationId, { field: 'inputSchema', schema: fields.inputSchema });
    await requireSchema(call, organizationId, { field: 'outputSchema', schema: fields.outputSchema });
  },
  apply(draft, { step_id, loop, branches, ...fields }) {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    const changed = changeStep(draft, step_id, (step) => {
      if (given.some(([key]) => key !== 'name')) requireBlock(step);
      const kept = Object.entries({ ...step, ...Object.fromEntries(given) });
      const set = Object.fromEntries(kept.filter(([, value]) => value !== null)) as Step;
      return branches ? renameBranches(set, branches) : set;
    });
    if (loop === undefined) return { definition: changed, stepId: step_id };
    const definition = loop === null ? removeLoop(changed, step_id) : setLoop(changed, step_id, loop);
    return { definition, stepId: step_id };
  },
});

const updateBlockDraftEdit = defineEdit({
  input: z.strictObject({ step_id: stepId, content: prompt.unwrap() }),
  apply: (draft, { step_id, content }) =>
    changed(draft, step_id, (step) => ({ ...requireBlock(step), prompt: content })),
});

const updateBlockOutputSchemaEdit = defineEdit({
  input: z.strictObject({ step_id: stepId, content: schemaObject }),
  check: (call, organizationId, { content }) =>
    requireSchema(call, organizationId, { field: 'content', schema: content }),
  apply: (draft, { step_id, content }) =>
    changed(draft, step_id, (step) => ({ ...requireBlock(step), outputSchema: content })),
});

const moveBlockEdit = defineEdit({
  input: z.strictObject({ step_id: stepId, ...placeFields }),
  apply: (draft, { step_id, target_id, direction }) => ({
    definition: moveStep(draft, step_id, toPlace(target_id, direction)),
    stepId: step_id,
  }),
});

const deleteBlockEdit = defineEdit({
  input: z.strictObject({ step_id: stepId }),
  apply: (draft, { step_id }) => ({ definition: removeStep(draft, step_id), stepId: step_id }),
});

export const BLOCK_EDITS = {
  add_block: addBlockEdit,
  update_block: updateBlockEdit,
  update_block_draft: updateBlockDraftEdit,
  update_block_output_schema: updateBlockOutputSchemaEdit,
  move_block: moveBlockEdit,
  delete_block: deleteBlockEdit,
} as const;

export type BlockEditName = keyof typeof BLOCK_EDITS;

function changed(draft: FlowDefinition, stepId: string, make: (step: Step) => Step): Edited {
  return { definition: changeStep(draft, stepId, make), stepId };
}

function toPlace(target: string | undefined, direction: StepPlace['direction']): StepPlace {
  if (direction === 'bottom' && target === undefined)
    throw new ServiceError(
      'VALIDATION_ERROR',
      'direction bottom needs target_id: the step to which the block is parallel.',
    );
  return { target, direction };
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
  { deps }: McpCall,
  organizationId: string,
  { field, schema }: { field: string; schema: JsonSchema | null | undefined },
): Promise<void> {
  if (schema === undefined || schema === null) return;
  await deps.validator
    .of(organizationId)
    .requireValidSchema(schema)
    .catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      throw new ServiceError('VALIDATION_ERROR', `${field}: ${error.message}`);
    });
}
