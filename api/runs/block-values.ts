// The input, sent request and output of a block execution, as JSON text. Outputs are not parsed. The sent request is
// rebuilt from stored data as the worker built it: a stored copy of every prompt would double the size of a run.

import { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import {
  type BlockTraceRow,
  type FoundBlock,
  findBlockTrace,
  readOutputText,
} from '../../db/runs/block-traces.ts';
import { findOutputsRead } from '../../db/runs/find-outputs-read.ts';
import { getRunInput } from '../../db/runs/runs.ts';
import {
  loadReferences,
  measureOutputs,
  readResult,
  readResultText,
} from '../../db/stored-values/load-references.ts';
import type { StoredRunInput } from '../../db/tables/run-input.ts';
import type { Block, FlowDefinition, Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { OUTPUTS_READ_MAX_BYTES, RENDERED_PROMPT_MAX_CHARS } from '../../flow/limits.ts';
import { listVisibleSteps } from '../../flow/list-steps-read.ts';
import { applyOverride, overrideOf } from '../../flow/overrides.ts';
import { listBlocks } from '../../flow/plan.ts';
import { renderTemplate } from '../../flow/template.ts';
import { bytesToLoad, resolveValue, type Stored } from '../../flow/value.ts';
import { conversationFor } from '../../platform/models/assistant-state.ts';
import { buildMessages } from '../../platform/models/build-messages.ts';
import type { Registry } from '../../platform/models/registry.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext } from '../http/context.ts';
import { errorAnswer, examplesOf, RUN_PATH, VALIDATION_ERRORS } from '../reference/operations.ts';
import { flowNotFound, runOfFlowNotFound } from './calls/load-flow.ts';
import { OUTPUT_ERROR_EXAMPLE, READ_ERRORS } from './run-errors.ts';

/** The source of a code block, or the request to a model; `tools` by name. */
export type Sent = string | { model: string; messages: SentMessage[]; tools?: string[] };

type SentMessage = { role: string; content?: unknown; tool_calls?: unknown };

/** The stored data from which a request is rebuilt. */
type Source = {
  input(callId: string): Promise<StoredRunInput>;
  outputs(callId: string, refs: string[]): Promise<Map<string, Stored>>;
  definition: FlowDefinition;
};

export const BLOCKS = `${RUN_PATH}/blocks`;
export const BLOCK = `${BLOCKS}/:key`;

export const blockQuery = z.strictObject({
  call: z.uuid().optional().meta({
    description:
      'The callId of an earlier execution: a session and a resume may execute a block again. The last one without it.',
  }),
});

export const LIST_ERRORS = { ...READ_ERRORS, ...VALIDATION_ERRORS };

export const BLOCK_ERRORS = {
  ...LIST_ERRORS,
  404: {
    id: 'BlockNotFound',
    ...errorAnswer(
      'The run has no such block execution, or is unknown as its flow may be.',
      examplesOf(blockNotFound(), flowNotFound(), runOfFlowNotFound()),
    ),
  },
  413: {
    id: 'BlockTooLarge',
    ...errorAnswer('The block read more than outputs may have together.', OUTPUT_ERROR_EXAMPLE),
  },
};

export const BLOCK_VALUES = ['input', 'sent', 'output'] as const;
export type BlockValue = (typeof BLOCK_VALUES)[number];

/** Reads one of the values; undefined when the block has none: it sends nothing, or it failed. */
export async function readBlockValue(
  deps: ApiDeps,
  row: FoundBlock,
  value: BlockValue,
): Promise<string | undefined> {
  const { execution_id: callId, block_key: blockKey } = row;
  if (value === 'output') return readOutputText(deps.db, { callId, blockKey });
  if (value === 'input') return readResultText(deps.db, callId, row.input);
  const definition = await deps.definitions.get(row.flow_version_id);
  const block = listBlocks(definition).find(({ step_id }) => step_id === row.step_id);
  if (!block) return undefined;
  const source = {
    definition,
    input: (id: string) => getRunInput(deps.db, id),
    outputs: (id: string, refs: string[]) => loadReferences(deps.db, id, refs),
  };
  const input = block.processor_type === 'llm' ? await readResult(deps.db, callId, row.input) : null;
  const sent = await readSentRequest(deps, source, row, block, input);
  return sent === undefined ? undefined : JSON.stringify(sent);
}

/** Returns the maximum memory in bytes for reading these values. */
export async function measureBlockValues(
  { db, definitions }: ApiDeps,
  row: FoundBlock,
  values: readonly BlockValue[],
): Promise<number> {
  const ofInput = row.request_bytes + bytesToLoad(row.input);
  const bytes: { [value in BlockValue]: number } = { input: ofInput, output: row.output_bytes, sent: 0 };
  if (row.processor_type === 'llm' && values.includes('sent')) {
    // A prompt or its override may read the outputs of all steps that the block sees.
    const { steps } = await definitions.get(row.flow_version_id);
    const stepIds = listBlocks({ steps: listVisibleSteps(steps, row.step_id) ?? [] }).map(
      ({ step_id }) => step_id,
    );
    const read = stepIds.length === 0 ? 0 : await measureOutputs(db, row.execution_id, stepIds);
    bytes.sent = ofInput + Math.min(read, OUTPUTS_READ_MAX_BYTES);
  }
  return values.reduce((sum, value) => sum + bytes[value], 0);
}

/** Gets the block execution in a path and its query. Throws NOT_FOUND. */
export async function getBlockTrace({ db }: ApiDeps, { state, params }: ApiContext): Promise<FoundBlock> {
  const { call } = state.query as z.infer<typeof blockQuery>;
  const { key = '' } = params;
  const row = key.includes('\0') ? undefined : await findBlockTrace(db, state.run.execution_id, key, call);
  if (!row) throw blockNotFound();
  return row;
}

/** The error for a value that a block execution does not have. */
export function valueNotFound({ step_id }: FoundBlock, value: BlockValue): ServiceError {
  return new ServiceError('NOT_FOUND', `This execution of ${step_id} has no ${value}.`);
}

function blockNotFound(): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    'This run has executed no block with that key. A block is listed among those of its run, with its key, once it has ended.',
  );
}

/** Rebuilds the request of a block with the input `previousOutput`; undefined for a block that sends none. */
export async function readSentRequest(
  { registry, db }: { registry: Registry; db: Db },
  source: Source,
  row: BlockTraceRow,
  stored: Block,
  previousOutput: Json,
): Promise<Sent | undefined> {
  if (row.pinned || stored.processor_type === 'passthrough') return undefined;
  if (stored.processor_type === 'code') return stored.prompt ?? '';
  const { execution_id: callId, block_key: blockKey, step_id } = row;
  const { message, parameters, attachments, ...input } = await source.input(callId);
  const block = applyOverride(stored, overrideOf(input.block_overrides, step_id));
  const resume = input.continuation?.resume;
  async function readPrompt(): Promise<string> {
    const execution = { callId, blockKey };
    const read = await findOutputsRead(db, execution, block, source.definition, input.continuation);
    const outputs = await read.load((value) => resolveValue(value, (refs) => source.outputs(callId, refs)));
    const values = { message, previousOutput, parameters, outputs };
    const { length, build } = renderTemplate(block.prompt ?? '', values);
    return length > RENDERED_PROMPT_MAX_CHARS ? `[too long to be sent: ${length} characters]` : build();
  }
  const conversation =
    resume?.step_id === step_id
      ? conversationFor(block.model ?? '', resume)
      : [{ role: 'user' as const, content: await readPrompt().catch(showTooLarge) }];
  const { model = '' } = block;
  const request = { block, conversation, attachments };
  const tools = block.processor_config?.tools_enabled ? input.tools : undefined;
  // An unknown model was not called.
  const hasFormat = registry.find(model)?.json_schema ?? false;
  return {
    model,
    messages: buildMessages(request, { hasFormat }).messages,
    ...(tools && { tools: tools.map((tool) => tool.function.name) }),
  };
}

/** Returns the reason why a prompt was not built; rethrows other errors. */
function showTooLarge(error: unknown): string {
  if (error instanceof ServiceError && error.code === 'OUTPUT_TOO_LARGE')
    return `[not sent: ${error.message}]`;
  throw error;
}
