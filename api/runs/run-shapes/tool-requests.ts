// The shapes of tools and tool-call messages, and the errors for invalid ones (docs/tool-calls.md).
import { z } from 'zod';
import { ServiceError } from '../../../flow/errors.ts';
import { TOOL_MESSAGES_MAX_BYTES, TOOL_RESULT_MAX_BYTES } from '../../../flow/limits.ts';
import type { AssistantMessage } from '../../../flow/tool-calls.ts';
import { dropUnsent } from '../../../platform/models/assistant-state.ts';
import { PARSE_OPTIONS, PROBLEMS_MAX, problem, validationError } from '../../http/json-body.ts';

const OPAQUE = 'Further fields are state of the provider: echo them.';

const toolCall = z
  .looseObject({
    id: z.string().min(1),
    type: z.literal('function'),
    function: z.looseObject({
      name: z.string(),
      arguments: z.string().meta({ description: 'The JSON text of an object.' }),
    }),
  })
  .meta({ id: 'ToolCall', description: OPAQUE });

/** The number of calls that fit into a conversation: listing the mistakes of more would take long. */
const CONVERSATION_TOOL_CALLS_MAX = Math.floor(
  TOOL_MESSAGES_MAX_BYTES / '{"id":"1","type":"function","function":{"name":"","arguments":""}},'.length,
);

const message = z
  .discriminatedUnion('role', [
    z.object({ role: z.literal('user'), content: z.string() }),
    z
      .looseObject({
        role: z.literal('assistant'),
        content: z.string().nullish(),
        tool_calls: z.array(toolCall).max(CONVERSATION_TOOL_CALLS_MAX).optional(),
      })
      .overwrite((message) => dropUnsent(message as AssistantMessage) as typeof message)
      .meta({ description: OPAQUE }),
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
