// Shapes of tools and tool-call messages, and the codes of what does not fit (spec: Tool definition, Tool-call errors).
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { findJsonExcess } from '../../flow/find-json-excess.ts';
import { findMember } from '../../flow/find-member.ts';
import {
  TOOL_DESCRIPTION_MAX_LENGTH,
  TOOL_MESSAGES_MAX_BYTES,
  TOOL_NAME_PATTERN,
  TOOL_PARAMETERS_MAX_BYTES,
  TOOL_RESULT_MAX_BYTES,
  TOOLS_MAX,
} from '../../flow/limits.ts';
import { parsedObject } from '../flows/written-flow.ts';
import { PARSE_OPTIONS, PROBLEMS_MAX, problem, validationError } from '../http/json-body.ts';

const name = z
  .string()
  .regex(
    TOOL_NAME_PATTERN,
    'is 1 to 64 letters, digits, hyphens and underscores, and begins with no digit or hyphen',
  );

const tool = z
  .strictObject({
    type: z.literal('function'),
    function: z.strictObject({
      name,
      description: z.string().max(TOOL_DESCRIPTION_MAX_LENGTH).optional(),
      parameters: parsedObject
        .refine((schema) => bytesOf(schema) <= TOOL_PARAMETERS_MAX_BYTES, {
          error: `has more than ${TOOL_PARAMETERS_MAX_BYTES} bytes`,
        })
        .optional()
        .meta({ description: 'A JSON Schema.' }),
      strict: z.boolean().nullish(),
    }),
  })
  .meta({ id: 'Tool', description: 'A function of the caller that models may ask for.' });

const toolCall = z
  .object({
    id: z.string().min(1),
    type: z.literal('function'),
    function: z.object({
      name: z.string(),
      arguments: z.string().meta({ description: 'JSON text, as the model wrote it.' }),
    }),
    extra_content: z.unknown().optional().meta({ description: 'Of some providers: echo it.' }),
  })
  .meta({ id: 'ToolCall' });

/** As many as a conversation has room for: nobody waits for a list of more mistakes. */
const TOOL_CALLS_MAX = Math.floor(
  TOOL_MESSAGES_MAX_BYTES / '{"id":"1","type":"function","function":{"name":"","arguments":""}},'.length,
);

const message = z
  .discriminatedUnion('role', [
    z.object({ role: z.literal('user'), content: z.string() }),
    z.object({
      role: z.literal('assistant'),
      content: z.string().nullish(),
      tool_calls: z.array(toolCall).max(TOOL_CALLS_MAX).optional(),
    }),
    z.object({
      role: z.literal('tool'),
      tool_call_id: z.string(),
      content: z.string().refine((content) => Buffer.byteLength(content) <= TOOL_RESULT_MAX_BYTES, {
        error: `has more than ${TOOL_RESULT_MAX_BYTES} bytes`,
      }),
    }),
  ])
  .meta({ id: 'ToolCallMessage' });

export const toolCallMessages = z
  .array(message)
  .min(1)
  .meta({ description: `The whole conversation, at most ${TOOL_MESSAGES_MAX_BYTES} bytes.` });

export const toolCalls = z
  .array(toolCall)
  .meta({ description: 'The last message’s tool_calls: each id wants one result.' });

/** Fields of every request that may have tools. */
export const toolFields = {
  tools: z
    .array(tool)
    .max(TOOLS_MAX)
    .superRefine((tools, ctx) => {
      const names = tools.map((each) => each.function.name);
      for (const [index, each] of names.entries())
        if (names.indexOf(each) < index)
          ctx.addIssue({
            code: 'custom',
            path: [index, 'function', 'name'],
            message: `${each} is there twice`,
          });
    })
    .optional()
    .meta({ description: 'Sent again, unchanged, on every call that should have them.' }),
  toolChoice: z
    .union(
      [
        z.enum(['auto', 'none', 'required']),
        z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
      ],
      { error: 'is auto, none, required or {type: function, function: {name}}' },
    )
    .optional()
    .meta({ description: '`auto` when absent.' }),
};

/** What a caller sends back to go on after a pause. */
export const resumeFields = {
  toolCallMessages: toolCallMessages
    .optional()
    .meta({ description: 'On resume: echo, tool results appended.' }),
  iterationsUsed: z.int().min(0).optional().meta({ description: 'On resume: echo.' }),
  resumeState: z.string().max(4096).optional().meta({
    description: 'On resume: echo, if you like; then what it stands for may not have been changed.',
  }),
};

/**
 * Throws MESSAGES_TOO_LARGE, and what is wrong with the first message that is none: to list all that can be wrong with
 * a megabyte of them takes seconds. Before the shape of the body is looked at.
 */
export function requireMessagesFit(body: unknown): void {
  const messages = (body as { toolCallMessages?: unknown } | null)?.toolCallMessages;
  if (messages === undefined) return;
  requireSize(bytesOf(messages));
  for (const [index, each] of Array.isArray(messages) ? messages.entries() : []) {
    const issues = message.safeParse(each, PARSE_OPTIONS).error?.issues.slice(0, PROBLEMS_MAX);
    if (issues)
      throw describeProblems(
        new z.ZodError(
          issues.map((issue) => ({ ...issue, path: ['toolCallMessages', index, ...issue.path] })),
        ),
      );
  }
}

/** Throws MESSAGES_TOO_LARGE or TOOLS_INVALID for a body that is not parsed, where its messages are what is too much. */
export function refuseExcessMessages(body: Uint8Array): void {
  const messages = findMember(body, 'toolCallMessages');
  if (!messages) return;
  requireSize(messages.length);
  const excess = findJsonExcess(messages);
  if (excess) throw describeProblems(problem(['toolCallMessages'], `${excess}: no conversation has as many`));
}

function requireSize(bytes: number): void {
  if (bytes > TOOL_MESSAGES_MAX_BYTES)
    throw new ServiceError(
      'MESSAGES_TOO_LARGE',
      `toolCallMessages have ${bytes} bytes; at most ${TOOL_MESSAGES_MAX_BYTES} are taken.`,
    );
}

const TOOL_FIELDS = ['tools', 'toolChoice', 'toolCallMessages'];

/** TOOLS_INVALID, or TOOL_NAME_INVALID when it is names only, for what is wrong with tools, else the 422 that names each field. */
export function describeProblems(error: z.ZodError): ServiceError {
  const ofTools = error.issues.filter(({ path }) => TOOL_FIELDS.includes(String(path[0])));
  if (ofTools.length === 0) return validationError(error);
  const { message: text, extra } = validationError(new z.ZodError(ofTools));
  const named = ofTools.every(({ path, code }) => path.at(-1) === 'name' && code === 'invalid_format');
  return new ServiceError(named ? 'TOOL_NAME_INVALID' : 'TOOLS_INVALID', text, extra);
}

/** Throws TOOLS_INVALID for a choice that none of the tools can follow. */
export function requireChoice(body: {
  tools?: { function: { name: string } }[];
  toolChoice?: unknown;
}): void {
  const { tools = [], toolChoice: choice } = body;
  const wanted =
    typeof choice === 'object' ? (choice as { function: { name: string } }).function.name : undefined;
  if (wanted !== undefined && !tools.some((each) => each.function.name === wanted))
    throw new ServiceError('TOOLS_INVALID', `toolChoice names ${wanted}, which is none of the tools sent.`);
  if (choice === 'required' && tools.length === 0)
    throw new ServiceError('TOOLS_INVALID', 'toolChoice is required, and no tools are sent.');
}

function bytesOf(json: unknown): number {
  return Buffer.byteLength(JSON.stringify(json));
}
