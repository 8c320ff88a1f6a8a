// The opaque state of assistant messages: fields that a provider puts on a message, or on its tool calls, and wants back unchanged
// after the tool results, such as `reasoning_content` (docs/tool-calls.md).
import { createHash } from 'node:crypto';
import { isRefusedMember } from '../../flow/json.ts';
import { JSON_DEPTH_MAX } from '../../flow/limits.ts';
import type { AssistantMessage, ToolCall, ToolCallMessage } from '../../flow/tool-calls.ts';

/** Fields of answers that providers refuse in requests, or do not read there. */
export const NEVER_SENT = new Set(['refusal', 'audio', 'function_call', 'annotations']);
/** The levels around a message of `toolCallMessages` in a request. */
const LEVELS_AROUND = 2;

/** Drops what no provider wants back: null fields, also those of its tool calls, and the fields of `NEVER_SENT`. */
export function dropUnsent(message: AssistantMessage): AssistantMessage {
  const { role, content, tool_calls: calls, ...fields } = message;
  const state = Object.entries(withoutNulls(fields)).filter(([field]) => !NEVER_SENT.has(field));
  return {
    role,
    ...(content !== undefined && { content }),
    ...Object.fromEntries(state),
    ...(calls && { tool_calls: calls.map(dropNullsOfCall) }),
  };
}

function dropNullsOfCall({ function: called, ...call }: ToolCall): ToolCall {
  return { ...withoutNulls(call), function: withoutNulls(called) };
}

/** Drops the fields that are null. */
export function withoutNulls<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as T;
}

/**
 * Returns the conversation of a resume for `model`. The state in it is that of the model that paused: another model may refuse it,
 * also one of the same provider, and gets none.
 */
export function conversationFor(
  model: string,
  resume: { messages: ToolCallMessage[]; model: string },
): ToolCallMessage[] {
  if (model === resume.model) return resume.messages;
  return resume.messages.map((message) => (message.role === 'assistant' ? withoutState(message) : message));
}

/** Makes an id of a call that each provider takes, always the same one of the same id. */
export function toCallId(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}

/** Returns a message with its text and calls alone. */
export function withoutState({ role, content, tool_calls: calls }: AssistantMessage): AssistantMessage {
  return {
    role,
    ...(content !== undefined && { content }),
    ...(calls && {
      tool_calls: calls.map(({ id, type, function: { name, arguments: text } }) => ({
        id,
        type,
        function: { name, arguments: text },
      })),
    }),
  };
}

/** Describes the first field of a message that no resume could send back; undefined when all can be sent. */
export function findUnsendable(message: AssistantMessage): string | undefined {
  for (const [field, value] of Object.entries(message)) {
    const problem = findProblem(value, JSON_DEPTH_MAX - LEVELS_AROUND - 1);
    if (problem) return `${field} ${problem}`;
  }
  return undefined;
}

/** Describes why a value of at most so many levels cannot be sent. */
function findProblem(value: unknown, levels: number): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'has a number too large for JSON';
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `has more levels than a request may have (${JSON_DEPTH_MAX})`;
  for (const [key, child] of Object.entries(value)) {
    const problem = isRefusedMember(key, child) ? `has a key ${key}` : findProblem(child, levels - 1);
    if (problem) return problem;
  }
  return undefined;
}
