// The request that a block sent to its processor. It is made again from stored data, as the worker made it: to store a
// copy of every prompt would double the size of a run.
import type { BlockTraceRow } from '../../db/runs/block-traces.ts';
import type { StoredRunInput } from '../../db/schema.ts';
import type { Block, Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { RENDERED_PROMPT_MAX_CHARS } from '../../flow/limits.ts';
import { applyOverride, overrideOf } from '../../flow/overrides.ts';
import { type Rendering, renderTemplate } from '../../flow/template.ts';
import { buildMessages } from '../../models/build-messages.ts';
import type { Registry } from '../../models/registry.ts';
import { cutJson, cutText } from './cut-json.ts';

/** The source of a code block, or the request to a model; `tools` by name. */
export type Sent = string | { model: string; messages: SentMessage[]; tools?: string[] };
type SentMessage = { role: string; content?: unknown; tool_calls?: unknown };

/** Makes the request of a block whose input was `previousOutput`; undefined for a block that sends none. */
export async function readSentRequest(
  { registry }: { registry: Registry },
  store: { input(callId: string): Promise<StoredRunInput> },
  { execution_id, step_id }: BlockTraceRow,
  stored: Block,
  previousOutput: Json,
): Promise<Sent | undefined> {
  if (stored.processor_type === 'passthrough') return undefined;
  if (stored.processor_type === 'code') return stored.prompt ?? '';
  const { message, parameters, attachments, ...input } = await store.input(execution_id);
  const block = applyOverride(stored, overrideOf(input.block_overrides, step_id));
  const { model = '', prompt = '' } = block;
  const resume = input.continuation?.resume;
  const conversation = resume?.step_id === step_id ? resume.messages : undefined;
  const content = showPrompt(renderTemplate(prompt, { message, previousOutput, parameters }));
  const request = { block, conversation: conversation ?? [{ role: 'user' as const, content }], attachments };
  const tools = block.processor_config?.tools_enabled ? input.tools : undefined;
  return {
    model,
    messages: buildMessages(request, hasFormat(registry, model)).messages,
    ...(tools && { tools: tools.map((tool) => tool.function.name) }),
  };
}

/** Builds the prompt, unless it was too long to be sent. */
function showPrompt({ length, build }: Rendering): string {
  return length > RENDERED_PROMPT_MAX_CHARS ? `[too long to be sent: ${length} characters]` : build();
}

/** Tells whether a model takes a JSON Schema for its answer; a model that is not known was not asked. */
function hasFormat(registry: Registry, model: string): boolean {
  try {
    return registry.capabilities(model).json_schema;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Cuts a request to about `maxChars` characters. */
export function cutSentRequest(sent: Sent, maxChars: number): Json {
  if (typeof sent === 'string') return cutText(sent, maxChars);
  const share = Math.floor(maxChars / sent.messages.length);
  const cut = (value: unknown) =>
    typeof value === 'string' ? cutText(value, share) : cutJson((value ?? null) as Json, share);
  return {
    ...sent,
    messages: sent.messages.map(({ role, content, tool_calls }) => ({
      role,
      content: cut(content),
      ...(tool_calls !== undefined && { tool_calls: cut(tool_calls) }),
    })),
  };
}
