// The shapes of tools and tool-call messages, and the errors for invalid ones (docs/tool-calls.md).
import { z } from 'zod';
import { ServiceError } from '../../../flow/errors.ts';
import {
  TOOL_DESCRIPTION_MAX_LENGTH,
  TOOL_MESSAGES_MAX_BYTES,
  TOOL_NAME_PATTERN,
  TOOL_PARAMETERS_MAX_BYTES,
  TOOL_RESULT_MAX_BYTES,
  TOOLS_MAX,
  TOOLS_MAX_BYTES,
} from '../../../flow/limits.ts';
import { weigh } from '../../../platform/json-text/measure-json.ts';
import { parsedObject } from '../../flows/written-flow.ts';
import { PARSE_OPTIONS, PROBLEMS_MAX, problem, validationError } from '../../http/json-body.ts';

const name = z
  .string()
  .regex(
    TOOL_NAME_PATTERN,
    'must be 1 to 64 letters, digits, hyphens and underscores, and begin with a letter or an underscore',
  );

const tool = z
  .strictObject({
    type: z.literal('function'),
    function: z.strictObject({
      name,
      description: z.string().max(TOOL_DESCRIPTION_MAX_LENGTH).optional(),
      parameters: parsedObject
        .refine((schema) => bytesOf(schema) <= TOOL_PARAMETERS_MAX_BYTES, {
          error: `must have at most ${TOOL_PARAMETERS_MAX_BYTES} bytes`,
        })
        .optional()
        .meta({ description: 'A JSON Schema.' }),
      strict: z.boolean().nullish(),
    }),
  })
  .meta({ id: 'Tool', description: 'A function of the caller that models may call.' });

const toolCall = z
  .object({
    id: z.string().min(1),
    type: z.literal('function'),
    function: z.object({
      name: z.string(),
      arguments: z.string().meta({ description: 'JSON text, as the model wrote it.' }),
    }),
    extra_content: z.unknown().optional().meta({ description: 'Sent by some providers: echo it.' }),
  })
  .meta({ id: 'ToolCall' });

/** The number of calls that fit into a conversation: listing the mistakes of more would take long. */
const CONVERSATION_TOOL_CALLS_MAX = Math.floor(
  TOOL_MESSAGES_MAX_BYTES / '{"id":"1","type":"function","function":{"name":"","arguments":""}},'.length,
);

const message = z
  .discriminatedUnion('role', [
    z.object({ role: z.literal('user'), content: z.string() }),
    z.object({
      role: z.literal('assistant'),
      content: z.string().nullish(),
      tool_calls: z.array(toolCall).max(CONVERSATION_TOOL_CALLS_MAX).optional(),
    }),
    z.object({
      role: z.literal('tool'),
      tool_call_id: z.string(),
      content: z.string().refine((content) => Buffer.byteLength(content) <= TOOL_RESULT_MAX_BYTES, {
        error: `must have at most ${TOOL_RESULT_MAX_BYTES} bytes`,
      }),
    }),
  ])
  .meta({ id: 'ToolCallMessage' });

export const toolCallMessages = z
  .array(message)
  .meta({ description: `The whole conversation, at most ${TOOL_MESSAGES_MAX_BYTES} bytes.` });

export const toolCalls = z
  .array(toolCall)
  .meta({ description: 'The tool_calls of the last message: each id needs one result.' });

/** The fields of every request that may have tools. */
export const toolFields = {
  tools: z
    .array(tool)
    .max(TOOLS_MAX)
    .refine((tools) => weigh(JSON.stringify(tools)) <= TOOLS_MAX_BYTES, {
      error: `must have at most ${TOOLS_MAX_BYTES} bytes together; many values count as more`,
    })
    .superRefine((tools, ctx) => {
      const names = tools.map((each) => each.function.name);
      for (const [index, each] of names.entries())
        if (names.indexOf(each) < index)
          ctx.addIssue({
            code: 'custom',
            path: [index, 'function', 'name'],
            message: `${each} is defined twice`,
          });
    })
    .optional()
    .meta({ description: 'Send them again, unchanged, on every call that should have them.' }),
  toolChoice: z
    .union(
      [
        z.enum(['auto', 'none', 'required']),
        z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
      ],
      { error: 'must be auto, none, required or {type: function, function: {name}}' },
    )
    .optional()
    .meta({ description: '`auto` when absent.' }),
};

/** The fields with which a caller resumes after a pause. */
export const resumeFields = {
  toolCallMessages: toolCallMessages
    .optional()
    .meta({ description: 'On resume: echo, tool results appended.' }),
  iterationsUsed: z.int().min(0).optional().meta({ description: 'On resume: echo.' }),
  resumeState: z.string().max(4096).optional().meta({
    description:
      'On resume: echo it to have the rest verified; a resume with anything changed is then refused.',
  }),
};

/**
 * Throws MESSAGES_TOO_LARGE, or TOOLS_INVALID for the first malformed message. Runs before the whole body is
 * validated, because listing every problem of a megabyte of messages takes seconds.
 */
export function requireMessagesFit(body: unknown): void {
  const messages = (body as { toolCallMessages?: unknown } | null)?.toolCallMessages;
  if (messages === undefined) return;
  requireMessagesSize(bytesOf(messages));
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

/**
 * Throws MESSAGES_TOO_LARGE or TOOLS_INVALID for a body with too many values to parse, when the messages are the
 * reason.
 */
export const EXCESS_MESSAGES = {
  member: 'toolCallMessages',
  refuse({ bytes, excess }: { bytes: number; excess?: string | undefined }): void {
    requireMessagesSize(bytes);
    if (excess)
      throw describeProblems(problem(['toolCallMessages'], `${excess}: no conversation has that many`));
  },
};

/** Throws MESSAGES_TOO_LARGE. */
export function requireMessagesSize(bytes: number): void {
  if (bytes > TOOL_MESSAGES_MAX_BYTES)
    throw new ServiceError(
      'MESSAGES_TOO_LARGE',
      `toolCallMessages has ${bytes} bytes; at most ${TOOL_MESSAGES_MAX_BYTES} are accepted.`,
    );
}

const TOOL_FIELDS = ['tools', 'toolChoice', 'toolCallMessages'];

/**
 * Makes the error of a body: TOOL_NAME_INVALID or TOOLS_INVALID for its tools, otherwise the 422 that names each
 * field.
 */
export function describeProblems(error: z.ZodError): ServiceError {
  const ofTools = error.issues.filter(({ path }) => TOOL_FIELDS.includes(String(path[0])));
  if (ofTools.length === 0) return validationError(error);
  const { message: text, extra } = validationError(new z.ZodError(ofTools));
  const named = ofTools.every(({ path, code }) => path.at(-1) === 'name' && code === 'invalid_format');
  return new ServiceError(named ? 'TOOL_NAME_INVALID' : 'TOOLS_INVALID', text, extra);
}

/** Throws TOOLS_INVALID when toolChoice names an unknown tool. */
export function requireChoice(body: {
  tools?: { function: { name: string } }[];
  toolChoice?: unknown;
}): void {
  const { tools = [], toolChoice: choice } = body;
  const wanted =
    typeof choice === 'object' ? (choice as { function: { name: string } }).function.name : undefined;
  if (wanted !== undefined && !tools.some((each) => each.function.name === wanted))
    throw new ServiceError('TOOLS_INVALID', `toolChoice names ${wanted}, which is not one of the tools.`);
  if (choice === 'required' && tools.length === 0)
    throw new ServiceError('TOOLS_INVALID', 'toolChoice is required, but there are no tools.');
}

function bytesOf(json: unknown): number {
  return Buffer.byteLength(JSON.stringify(json));
}
