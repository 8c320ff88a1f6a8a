// Reads the tool calls of an answer and checks them against the tools that were offered (docs/tool-calls.md).
import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../flow/errors.ts';
import { isObject } from '../../flow/json.ts';
import { JSON_DEPTH_MAX, TOOL_MESSAGES_MAX_BYTES, TOOL_NAME_PATTERN } from '../../flow/limits.ts';
import type { AssistantMessage, ToolCall, ToolCallMessage, ToolDefinition } from '../../flow/tool-calls.ts';
import { hasInfiniteNumber } from '../../platform/json-text/scan-json.ts';
import { dropUnsent, findUnsendable, toCallId } from '../../platform/models/assistant-state.ts';
import { isDeeper } from './is-deeper.ts';

/** The most tool calls in one answer; each needs a result. */
export const ANSWER_TOOL_CALLS_MAX = 128;
/** More calls are not read: their results would be longer than any conversation. */
const CALLS_READ_MAX = 10_000;
const QUOTED_MAX_LENGTH = 100;
const ID_MAX_LENGTH = 256;

const NOT_RUN = 'It was not run, because another call of the same answer was wrong. Call it again.';

type ToolResult = Extract<ToolCallMessage, { role: 'tool' }>;

/**
 * An answer with tool calls. `bad`: where a call cannot be run. Nobody runs the calls then; the model gets `results`, one for
 * each, which say why. `problem` is the first reason.
 */
export type ToolTurn = { message: AssistantMessage; bad?: { problem: string; results: ToolResult[] } };

/** The `message` of a chat completion, as the provider wrote it. */
type Written = { content?: unknown; tool_calls?: unknown; [field: string]: unknown };

/**
 * Reads the turn of an answer with tool calls; undefined when it has none. `text` is what the model says beside them. Results are
 * matched by id, so a call without an id, or with the id of another call, gets a new one. Throws MODEL_OUTPUT_INVALID for state
 * that no resume could send back; `inexact`: the field that has a number which would be rounded.
 */
export function readToolTurn(
  model: string,
  written: Written,
  text: string,
  offered: ToolDefinition[],
  inexact?: string,
): ToolTurn | undefined {
  const all = callsOf(written);
  if (all.length === 0) return undefined;
  const names = offered.map((tool) => tool.function.name);
  const taken = new Set<string>();
  const read = all.slice(0, CALLS_READ_MAX).map((each) => readCall(each, names, taken));
  const message = toMessage(written, text, read);
  const unsendable =
    all.length > CALLS_READ_MAX
      ? `there are ${all.length} of them`
      : inexact !== undefined
        ? `${inexact.slice(0, QUOTED_MAX_LENGTH)} has a whole number of more than 53 bits`
        : findUnsendable(message);
  if (unsendable)
    throw new ServiceError(
      'MODEL_OUTPUT_INVALID',
      `The tool calls of ${model} can't be passed on, because no resume could send them back: ${unsendable}.`,
      { model },
    );
  const tooMany =
    all.length > ANSWER_TOOL_CALLS_MAX
      ? `It calls ${all.length} tools at once; at most ${ANSWER_TOOL_CALLS_MAX} are passed on.`
      : undefined;
  const problem = tooMany ?? read.find((call) => call.problem)?.problem;
  if (problem === undefined) return { message };
  const results = read.map(({ call, problem: own = tooMany ?? NOT_RUN }) => ({
    role: 'tool' as const,
    tool_call_id: call.id,
    content: own,
  }));
  return { message, bad: { problem, results } };
}

/** Whether an answer has tool calls of any form. */
export function hasCalls(written: Written): boolean {
  return callsOf(written).length > 0;
}

/** The tool with which LiteLLM asks for a format. */
const FORMAT_TOOL = 'json_tool_call';

/**
 * Returns the answer that a gateway has left in the only call, because it asks for a format by means of a tool. Where tools of
 * these names were sent, only a call by the name of such a tool is one.
 */
export function findFormatted(written: Written, sent: string[] | undefined): string | undefined {
  const [only, ...others] = callsOf(written);
  const called = isObject(only) && isObject(only.function) ? only.function : {};
  const isOther = sent && (called.name !== FORMAT_TOOL || sent.includes(FORMAT_TOOL));
  return others.length > 0 || isOther || !called.arguments ? undefined : readArguments(called.arguments);
}

/** Returns the calls as they were written; a `function_call` of old is one. */
function callsOf({ tool_calls: asked, function_call: old }: Written): unknown[] {
  const calls: unknown[] = Array.isArray(asked) ? asked : asked ? [asked] : [];
  return calls.length === 0 && isObject(old) ? [{ function: old }] : calls;
}

/** Makes the message that a pause hands out: its content is text, and parts of another kind are state. */
function toMessage({ content, ...state }: Written, text: string, read: ReadCall[]): AssistantMessage {
  return dropUnsent({
    ...state,
    ...(Array.isArray(content) && { provider_state: { api: 'openai-chat', content } }),
    role: 'assistant',
    content: typeof content === 'string' ? content : text || null,
    tool_calls: read.map(({ call }) => call),
  });
}

type ReadCall = { call: ToolCall; problem?: string };

/**
 * Reads one call. A wrong one gets a name and arguments that every provider takes back; `problem` quotes what the model wrote.
 */
function readCall(written: unknown, names: string[], taken: Set<string>): ReadCall {
  const { id: own, type, function: asked, ...state } = isObject(written) ? written : {};
  const { name: given, arguments: args, ...more } = isObject(asked) ? asked : {};
  const isOwn = typeof own === 'string' && own !== '' && own.length <= ID_MAX_LENGTH && !taken.has(own);
  const id = isOwn ? own : toCallId(randomUUID());
  taken.add(id);
  const name = typeof given === 'string' ? findTool(given, names) : undefined;
  const text = readArguments(args);
  const problem = findProblem();
  const called = { ...more, name: name ?? toName(given), arguments: text ?? '{}' };
  const call: ToolCall = { ...state, id, type: 'function', function: called };
  return { call, ...(problem !== undefined && { problem }) };

  function findProblem(): string | undefined {
    const offered = `The tools are ${names.join(', ')}.`;
    if (type !== undefined && type !== null && type !== 'function')
      return `Only calls of the type "function" can be run. ${offered}`;
    if (typeof given !== 'string' || given === '') return `The call names no tool. ${offered}`;
    if (name === undefined) return `There is no tool ${quote(given)}. ${offered}`;
    if (text !== undefined) return undefined;
    const quoted = quote(typeof args === 'string' ? args : typeof args);
    return `The arguments of ${name} have to be one JSON object; they are ${quoted}.`;
  }
}

/**
 * Finds the offered tool that a model means: the tool of this name, or the only tool whose name is a word of it, as in
 * `functions.get_weather` or `get_weather<|channel|>commentary`.
 */
function findTool(written: string, names: string[]): string | undefined {
  if (names.includes(written)) return written;
  const parts = [written.split(/[^a-zA-Z0-9_-]+/), written.split(/[^a-zA-Z0-9_-]+|__+/)];
  return findOnly(parts, names, (part) => part) ?? findOnly(parts, names, (part) => part.toLowerCase());
}

function findOnly(parts: string[][], names: string[], fold: (part: string) => string): string | undefined {
  for (const list of parts) {
    const folded = new Set(list.map(fold));
    const found = names.filter((name) => folded.has(fold(name)));
    if (found.length > 0) return found.length === 1 ? found[0] : undefined;
  }
  return undefined;
}

/** Makes a name that providers accept in a conversation. */
function toName(written: unknown): string {
  const name = typeof written === 'string' ? written.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) : '';
  return TOOL_NAME_PATTERN.test(name) ? name : 'unknown';
}

/** Returns arguments as the JSON text of an object; undefined when they are something else. Missing ones are an empty object. */
function readArguments(written: unknown): string | undefined {
  if (written === undefined || written === null) return '{}';
  // The interface says text; some servers send the object itself.
  if (isObject(written))
    return isDeeper(written, JSON_DEPTH_MAX) || hasInfiniteNumber(written)
      ? undefined
      : JSON.stringify(written);
  if (typeof written !== 'string') return undefined;
  const text = written.replace(/^\ufeff/, '');
  if (text.trim() === '') return '{}';
  // No pause takes it, so it need not be parsed.
  if (text.length > TOOL_MESSAGES_MAX_BYTES) return text;
  const value = parse(text);
  if (value === null) return '{}';
  if (isObject(value)) return text;
  // Text that was written as JSON twice.
  return typeof value === 'string' && value !== text ? readArguments(value) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, QUOTED_MAX_LENGTH));
}
