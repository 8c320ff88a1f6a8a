// Reads a model's answer: tool calls, checked against the tools that were offered, or structured output.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { REFUSED_KEYS } from '../../flow/json.ts';
import { JSON_DEPTH_MAX } from '../../flow/limits.ts';
import type { ToolCall, ToolDefinition } from '../../flow/tool-calls.ts';
import { JSON_KEYS_MAX, measureJson } from '../../platform/json-text/measure-json.ts';
import { findInexactNumber, hasInfiniteNumber } from '../../platform/json-text/scan-json.ts';

/** The most tool calls in one answer; each needs a result. */
export const ANSWER_TOOL_CALLS_MAX = 128;
const EXTRA_DEPTH_MAX = 16;
const QUOTED_MAX_LENGTH = 100;
const ID_MAX_LENGTH = 256;

const tooDeep = (levels: number) => ({ error: `has more than ${levels} levels` });

const TOO_LARGE = { error: 'has a number too large for JSON' };

const toolCalls = z.array(
  z.object({
    id: z.unknown().optional(),
    type: z.literal('function').default('function'),
    function: z.object({
      name: z.string(),
      // The interface says text; some servers send the object itself.
      arguments: z
        .union([z.string(), z.record(z.string(), z.unknown())])
        .refine((written) => !isDeeper(written, JSON_DEPTH_MAX), { ...tooDeep(JSON_DEPTH_MAX), abort: true })
        .refine((written) => !hasInfiniteNumber(written), TOO_LARGE)
        .nullish(),
    }),
    // Google's signature of its thoughts, which it wants back. A value that no resume could send is not given to the caller.
    extra_content: z
      .unknown()
      .refine((extra) => !isDeeper(extra, EXTRA_DEPTH_MAX), { ...tooDeep(EXTRA_DEPTH_MAX), abort: true })
      .refine((extra) => !hasInfiniteNumber(extra), TOO_LARGE)
      .superRefine((extra, { addIssue }) => {
        const key = findRefusedKey(extra);
        if (key) addIssue(`has a key ${key}`);
      })
      .optional(),
  }),
);

/**
 * Reads the tool calls of an answer; `offered` are the tools that the model could call. Results are matched by id, so a
 * call without an id, or with the id of another call, gets a new one. Arguments stay as the model wrote them. Throws
 * MODEL_OUTPUT_INVALID for a call that was not possible.
 */
export function readToolCalls(model: string, calls: unknown, offered: ToolDefinition[]): ToolCall[] {
  const invalid = (what: string) =>
    new ServiceError('MODEL_OUTPUT_INVALID', `The tool calls of ${model} can't be used: ${what}.`, { model });
  if (Array.isArray(calls) && calls.length > ANSWER_TOOL_CALLS_MAX)
    throw invalid(
      `it asks for ${calls.length} functions at once; at most ${ANSWER_TOOL_CALLS_MAX} are passed on`,
    );
  const parsed = toolCalls.safeParse(calls ?? []);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${['tool_calls', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`);
  }
  const names = new Set(offered.map((tool) => tool.function.name));
  const taken = new Set<string>();
  return parsed.data.map(({ id, function: { name, arguments: written = '{}' }, ...call }) => {
    if (!names.has(name)) {
      const quoted = JSON.stringify(name.slice(0, QUOTED_MAX_LENGTH));
      throw invalid(`it asks for the function ${quoted}, but was offered only ${[...names].join(', ')}`);
    }
    const isOwn = typeof id === 'string' && id !== '' && id.length <= ID_MAX_LENGTH && !taken.has(id);
    const kept = isOwn ? id : `call_${randomUUID()}`;
    taken.add(kept);
    const text = typeof written === 'string' ? written : JSON.stringify(written ?? {});
    return { ...call, id: kept, function: { name, arguments: text } };
  });
}

function findRefusedKey(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const refused = REFUSED_KEYS.has(key) ? key : findRefusedKey(child);
    if (refused) return refused;
  }
  return undefined;
}

/** Whether a JSON value has more than `levels` levels of nesting. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => isDeeper(child, levels - 1));
}

/** Reads the JSON value of an answer, with or without a Markdown fence; undefined when there is none. Throws OUTPUT_TOO_LARGE. */
export function readModelJson(text: string): Json | undefined {
  const excess = text.length > JSON_KEYS_MAX ? measureJson(Buffer.from(text)).excess : undefined;
  if (excess) throw new ServiceError('OUTPUT_TOO_LARGE', `The answer ${excess}.`);
  const fence = text.indexOf('```');
  const fenced = text.slice(text.indexOf('\n', fence), text.lastIndexOf('```'));
  for (const candidate of fence === -1 ? [text] : [text, fenced]) {
    try {
      const value: Json = JSON.parse(candidate);
      if (findInexactNumber(Buffer.from(candidate))) return undefined;
      return isDeeper(value, JSON_DEPTH_MAX) || hasInfiniteNumber(value) ? undefined : value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}
