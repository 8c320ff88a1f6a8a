import type { Db } from '../../db/connect.ts';
import type { BlockTraceRow } from '../../db/runs/block-traces.ts';
import { findOutputsRead } from '../../db/runs/find-outputs-read.ts';
import type { StoredRunInput } from '../../db/tables/run-input.ts';
import type { Block, FlowDefinition, Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { RENDERED_PROMPT_MAX_CHARS } from '../../flow/limits.ts';
import { applyOverride, overrideOf } from '../../flow/overrides.ts';
import { type Rendering, renderTemplate } from '../../flow/template.ts';
import { resolveValue, type Stored } from '../../flow/value.ts';
import { buildMessages } from '../../platform/models/build-messages.ts';
import type { Registry } from '../../platform/models/registry.ts';

/** The source of a code block, or the request to a model; `tools` by name. */
export type Sent = string | { model: string; messages: SentMessage[]; tools?: string[] };
type SentMessage = { role: string; content?: unknown; tool_calls?: unknown };

/** The stored data from which a request is rebuilt. */
type Source = {
  input(callId: string): Promise<StoredRunInput>;
  outputs(callId: string, refs: string[]): Promise<Map<string, Stored>>;
  definition: FlowDefinition;
};

/** Rebuilds the request of a block with the input `previousOutput`; undefined for a block that sends none. */
export async function readSentRequest(
  { registry, db }: { registry: Registry; db: Db },
  source: Source,
  row: BlockTraceRow,
  stored: Block,
  previousOutput: Json,
): Promise<Sent | undefined> {
  if (stored.processor_type === 'passthrough') return undefined;
  if (stored.processor_type === 'code') return stored.prompt ?? '';
  const { execution_id: callId, block_key: blockKey, step_id } = row;
  const { message, parameters, attachments, ...input } = await source.input(callId);
  const block = applyOverride(stored, overrideOf(input.block_overrides, step_id));
  const resume = input.continuation?.resume;
  async function readPrompt(): Promise<string> {
    const execution = { callId, blockKey };
    const read = await findOutputsRead(db, execution, block, source.definition, input.continuation);
    const outputs = await read.load((value) => resolveValue(value, (refs) => source.outputs(callId, refs)));
    return showPrompt(renderTemplate(block.prompt ?? '', { message, previousOutput, parameters, outputs }));
  }
  const conversation =
    resume?.step_id === step_id
      ? resume.messages
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

/** Builds the prompt, unless it was too long to be sent. */
function showPrompt({ length, build }: Rendering): string {
  return length > RENDERED_PROMPT_MAX_CHARS ? `[too long to be sent: ${length} characters]` : build();
}
