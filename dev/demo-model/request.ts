import { z } from 'zod';

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(part)]).nullish(),
});
const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), parameters: z.record(z.string(), z.unknown()).optional() }),
});
const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: z.unknown() }) }),
]);
const tokenLimit = z.int().positive().nullish();

const chatRequest = z.looseObject({
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
type ChatMessage = ChatRequest['messages'][number];

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

/** A delay or failure that the model's name asks for: `slow-<ms>`, `error-<status>`. */
type Directive = { delayMs: number; status: number | undefined };

/** Parses a request. Throws DemoModelError 400, or 404 for an unknown model. */
export function parseChatRequest(body: unknown): { request: ChatRequest; directive: Directive } {
  const parsed = chatRequest.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new DemoModelError(400, issue?.message ?? 'Invalid request', issue?.path.join('.') || null);
  }
  const request = parsed.data;
  const name =
    /^(?:demo\/)?(?:chat|vision|no-tools|no-schema|slow-(?<delay>\d{1,6})|error-(?<status>[45]\d\d))$/;
  const match = name.exec(request.model);
  if (!match) {
    throw new DemoModelError(
      404,
      `The model \`${request.model}\` does not exist`,
      'model',
      'model_not_found',
    );
  }
  const lacks = (model: string) => request.model.endsWith(model);
  if (request.tools && lacks('no-tools')) {
    throw new DemoModelError(400, 'This model does not support tools', 'tools', 'unsupported_parameter');
  }
  if (request.response_format?.type === 'json_schema' && lacks('no-schema')) {
    throw new DemoModelError(400, 'This model does not support json_schema', 'response_format');
  }
  if (!lacks('vision') && request.messages.some((message) => imageCount(message) > 0)) {
    throw new DemoModelError(400, 'This model does not support images', 'messages');
  }
  const { delay = 0, status } = match.groups ?? {};
  return { request, directive: { delayMs: Number(delay), status: status ? Number(status) : undefined } };
}

/** Returns the text of a message, its parts joined by line breaks. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ text }) => text ?? []).join('\n');
}

export function imageCount({ content }: ChatMessage): number {
  return Array.isArray(content) ? content.filter(({ type }) => type === 'image_url').length : 0;
}
