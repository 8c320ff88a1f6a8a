// The request of a chat completion, checked as OpenAI checks it.
import { z } from 'zod';

const part = z.looseObject({ type: z.string(), text: z.string().optional() });

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).nullish(),
});

const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), parameters: z.record(z.string(), z.unknown()).optional() }),
});

const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ schema: z.unknown(), strict: z.boolean().nullish() }),
  }),
]);

const tokenLimit = z.int().positive().nullish();

export const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: tokenLimit,
  max_completion_tokens: tokenLimit,
  response_format: responseFormat.optional(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'required']),
      z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
    ])
    .optional(),
});

export type ChatRequest = z.infer<typeof chatRequest>;

export type ChatMessage = ChatRequest['messages'][number];

/** An error that is answered as `{error: {message, type, param, code}}`. */
export class DemoModelError extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, param: string | null = null, code: string | null = null) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
  }
}

/** Counts the images of a message. */
export function imageCount({ content }: ChatMessage): number {
  return Array.isArray(content) ? content.filter(({ type }) => type === 'image_url').length : 0;
}
