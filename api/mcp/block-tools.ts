// add_block, update_block, update_block_draft, update_block_output_schema, edit_draft and write_draft
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type FlowDefinition, PROCESSOR_TYPES } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { PathSegment } from '../../flow/step-path.ts';
import { requireVisibleFlow } from '../auth/caller.ts';
import { requireFewSteps, requireSound, wrongDraft } from '../flows/draft-problems.ts';
import { findSchemaProblems, type Problem } from '../flows/file-problems.ts';
import { draftETag } from '../flows/flow-etag.ts';
import { completeSteps, unknownField } from '../flows/flow-file.ts';
import { draftRequest } from '../flows/schemas.ts';
import { blockFields, loopFields, parsedObject, processorConfig, stepNaming } from '../flows/written-flow.ts';
import { requireMatch } from '../http/etag.ts';
import { dropNulls } from '../http/zod-input.ts';
import { BLOCK_EDITS, type BlockEditName, schemaObject } from './block-edits.ts';
import { type Edited, editDraft, editedDraft } from './flow-design.ts';
import { parseToolInput, TOOL_PARSE_OPTIONS } from './parse-tool-input.ts';
import { defineTool, flowId, type McpCall, type McpTool } from './tool.ts';

const EDITS_MAX = 50;
const PROBLEMS_MAX = 20;
const DRAFT_ETAG = z
  .string()
  .max(200)
  .optional()
  .meta({ description: 'From get_flow or the last edit: refused when the draft has changed since.' });

function editTool(
  name: BlockEditName,
  about: Pick<McpTool, 'title' | 'description'> & { hints?: Partial<McpTool['hints']> },
): McpTool {
  const { input, check, apply } = BLOCK_EDITS[name];
  return defineTool({
    name,
    ...about,
    scope: 'flows:write',
    hints: { readOnlyHint: false, destructiveHint: true, ...about.hints },
    input: z.strictObject({ flow_id: flowId, ...input.shape }),
    output: editedDraft,
    async run(call, { flow_id, ...edit }) {
      const { organizationId } = await requireVisibleFlow(call.deps, flow_id, call.access);
      await check?.(call, organizationId, edit);
      return editDraft(call, flow_id, name, (draft) => apply(draft, edit));
    },
  });
}

const oneEdit = z.strictObject({
  tool: z.enum(Object.keys(BLOCK_EDITS) as [BlockEditName]),
  arguments: parsedObject,
});

const editDraftTool = defineTool({
  name: 'edit_draft',
  title: 'Edit a draft',
  description: `Applies several edits to a draft in order, all or none: moves and deletes steps, and does what add_block and the update_block tools do.`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({
    flow_id: flowId,
    edits: z.array(oneEdit).min(1).max(EDITS_MAX).meta({
      description:
        'arguments: those of the tool, without flow_id. move_block takes step_id, target_id and direction (as add_block); delete_block takes step_id. Both include the steps inside; what is empty then is removed.',
    }),
    draft_etag: DRAFT_ETAG,
  }),
  output: editedDraft.omit({ step_id: true }).extend({
    step_ids: z.array(z.string()).meta({ description: 'The step of each edit.' }),
  }),
  async run(call, { flow_id, edits, draft_etag = '' }) {
    const { organizationId } = await requireVisibleFlow(call.deps, flow_id, call.access);
    const parsed = edits.map(({ tool, arguments: given }, index) => {
      const input = inEdit({ tool, index }, () => parseToolInput(BLOCK_EDITS[tool].input, given, tool));
      return { tool, index, input };
    });
    for (const edit of parsed)
      await inEdit(edit, () => BLOCK_EDITS[edit.tool].check?.(call, organizationId, edit.input));
    const stepIds: string[] = [];
    const apply = async (draft: FlowDefinition): Promise<Edited> => {
      requireMatch(draft_etag, draftETag(draft), 'draft');
      let definition = draft;
      for (const edit of parsed) {
        const edited = inEdit(edit, () => BLOCK_EDITS[edit.tool].apply(definition, edit.input));
        definition = edited.definition;
        stepIds.push(edited.stepId);
        // Each edit copies the draft: let other requests run before the next.
        await setImmediate();
      }
      return { definition, stepId: stepIds.join(', ').slice(0, 200) };
    };
    const { step_id: _, ...answer } = await editDraft(call, flow_id, 'edit_draft', apply);
    return { ...answer, step_ids: stepIds };
  },
});

/** Makes the error of one of several edits say which one it is, and that none was applied. */
function inEdit<T>({ tool, index }: { tool: string; index: number }, work: () => T): T {
  const rename = (error: unknown): never => {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, `No edit was applied: edits.${index} (${tool}): ${error.message}`);
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(rename) as T) : result;
  } catch (error) {
    return rename(error);
  }
}

const listOfSteps = { type: 'array', items: { type: 'object' } } as const;

/** A step as flow files have it, in one object without references, which many clients do not follow. */
const listedStep = z.object({
  type: z.enum(['sequential', 'parallel', 'loop']).default('sequential'),
  ...stepNaming,
  processor_type: z
    .enum(PROCESSOR_TYPES)
    .optional()
    .meta({ description: 'llm: asks a model. code: runs JavaScript. passthrough: answers its input.' }),
  ...blockFields,
  inputSchema: schemaObject.optional(),
  outputSchema: schemaObject.optional(),
  // The rarest fields are taken, too: docs/flow-file.md has them.
  processor_config: processorConfig
    .omit({ api: true, prompt_cache: true, messages: true })
    .loose()
    .optional()
    .meta({ description: 'llm; of code only timeout_ms.' }),
  branches: z.unknown().optional().meta({
    type: 'object',
    additionalProperties: listOfSteps,
    description:
      'parallel: lists of such steps by name; run at once; the output is an object with the last output of each.',
  }),
  body: z
    .unknown()
    .optional()
    .meta({
      ...listOfSteps,
      description:
        'loop: such steps, run for each item of the input, or until a condition holds; the output is the list of outputs.',
    }),
  ...loopFields,
});

const writeDraft = defineTool({
  name: 'write_draft',
  title: 'Write a whole draft',
  description: `Replaces all steps of a draft, as in a flow file. Use it for a new flow.`,
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({
    flow_id: flowId,
    steps: z.unknown().meta({
      type: 'array',
      items: z.toJSONSchema(listedStep, { io: 'input' }) as never,
      description: 'They run in order; each gets the output of the one before.',
    }),
    draft_etag: DRAFT_ETAG.meta({
      description:
        'From get_flow or the last edit: refused when the draft has changed since. Needed once the draft has steps.',
    }),
  }),
  output: editedDraft.omit({ step_id: true }),
  async run(call, { flow_id, steps, draft_etag = '' }) {
    const { organizationId } = await requireVisibleFlow(call.deps, flow_id, call.access);
    const definition = await parseDraft(call, organizationId, steps);
    const replace = (draft: FlowDefinition): Edited => {
      const stored = draftETag(draft);
      if (draft_etag === '' && draft.steps.length > 0 && stored !== draftETag(definition))
        throw new ServiceError(
          'PRECONDITION_REQUIRED',
          'The draft has steps, which this would replace: read it with get_flow, and send its draft_etag.',
        );
      requireMatch(draft_etag, stored, 'draft');
      return { definition, stepId: '' };
    };
    const bytes = Buffer.byteLength(JSON.stringify(definition));
    const { step_id: _, ...answer } = await editDraft(call, flow_id, 'write_draft', replace, bytes);
    return answer;
  },
});

/** Reads the steps of a draft. Throws INVALID_TREE with the position of each problem, as over HTTP. */
async function parseDraft(
  { deps }: McpCall,
  organizationId: string,
  steps: unknown,
): Promise<FlowDefinition> {
  const written = { steps };
  dropNulls(draftRequest, written);
  requireFewSteps(written);
  const { data, error } = draftRequest.safeParse(written, TOOL_PARSE_OPTIONS);
  if (!data) throw wrongDraft(written as never, error.issues.slice(0, PROBLEMS_MAX).flatMap(toProblems));
  const definition = completeSteps(data.steps);
  requireSound(definition);
  const wrong = await findSchemaProblems(definition, deps.validator.of(organizationId).requireValidSchema);
  if (wrong.length > 0) throw wrongDraft(definition, wrong);
  return definition;
}

function toProblems(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path as PathSegment[];
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message.replace(/\.?$/, '.') }];
  return issue.keys.slice(0, PROBLEMS_MAX).map((key) => ({
    path: [...path, key],
    message: `${unknownField(path, key)} The fields are ${issue.message}.`,
  }));
}

export const blockTools = [
  editTool('add_block', {
    title: 'Add a block',
    description: 'Adds a block to a draft. An llm block also needs a model: set it with update_block.',
    hints: { destructiveHint: false },
  }),
  editTool('update_block', {
    title: 'Change a block',
    description:
      'Sets the given fields of a block in a draft; null removes a field. Parallel and loop steps have only the fields name, branches and loop.',
  }),
  editTool('update_block_draft', {
    title: 'Write a block’s prompt or code',
    description: 'Replaces the prompt of an llm block, or the source of a code block.',
    hints: { idempotentHint: true },
  }),
  editTool('update_block_output_schema', {
    title: 'Set a block’s output schema',
    description: 'Sets the JSON Schema that the output of a block must match; a model is told the schema.',
    hints: { idempotentHint: true },
  }),
  editDraftTool,
  writeDraft,
];
