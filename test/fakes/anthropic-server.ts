// Anthropic's Messages API: refuses what the real one refuses, with its words, and answers as the real one does.
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Provider } from '../../platform/config/config.ts';
import { type Behaviour, respond } from './model-server.ts';
import {
  type Refusal,
  type ScriptedCall,
  type ScriptedServer,
  startScriptedServer,
} from './scripted-server.ts';

const KEY = 'key-of-the-test';
const BREAKPOINTS_MAX = 4;
const VERSIONS = ['2023-06-01', '2026-10-21'];

const cacheControl = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() });
const cached = { cache_control: cacheControl.optional() };
const text = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/, 'text content blocks must contain non-whitespace text'),
  ...cached,
});
const image = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('url'), url: z.url({ protocol: /^https$/ }) }),
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.base64(),
    }),
  ]),
  ...cached,
});
const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const block = z.discriminatedUnion('type', [
  text,
  image,
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.strictObject({
    type: z.literal('tool_use'),
    id: toolId,
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    caller: z.unknown().optional(),
    ...cached,
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: toolId,
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image]))]).optional(),
    is_error: z.boolean().optional(),
    ...cached,
  }),
]);
const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const request = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z
    .array(
      z.strictObject({
        role: z.enum(['user', 'assistant']),
        content: z.union([z.string().min(1), z.array(block).min(1)]),
      }),
    )
    .min(1),
  system: z.union([z.string(), z.array(text)]).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stop_sequences: z.array(z.string().regex(/\S/)).optional(),
  stream: z.boolean().optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal('object') }),
        strict: z.boolean().optional(),
        ...cached,
      }),
    )
    .optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('auto'), ...parallel }),
      z.strictObject({ type: z.literal('any'), ...parallel }),
      z.strictObject({ type: z.literal('tool'), name: z.string(), ...parallel }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024) }),
      z.strictObject({ type: z.literal('adaptive') }),
      z.strictObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
      format: z
        .strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) })
        .optional(),
    })
    .optional(),
});

type Request = z.infer<typeof request>;

export type FakeAnthropic = ScriptedServer & {
  provider: Provider;
  /** Answers with a message of these blocks; a text stands for one. `stop`: the stop reason. */
  say(
    content: string | unknown[],
    options?: { stop?: string | null; usage?: object; model?: string; more?: object },
  ): Behaviour;
};

/** Starts the server. It knows the signatures of its thinking blocks, and refuses blocks that were changed. */
export async function startFakeAnthropic(): Promise<FakeAnthropic> {
  const signed = new Map<string, string>();
  const server = await startScriptedServer((incoming, call) => checkRequest(incoming, call, signed));
  return {
    ...server,
    provider: { name: 'anthropic', api: 'anthropic', baseUrl: server.origin, apiKey: KEY } as Provider,
    say(content, { stop = 'end_turn', usage = {}, model = 'claude-sonnet-4-5-20250929', more = {} } = {}) {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      for (const { type, thinking, signature } of blocks as Record<string, string>[])
        if (type === 'thinking') signed.set(signature ?? '', thinking ?? '');
      return respond(200, {
        id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
        type: 'message',
        role: 'assistant',
        model,
        content: blocks,
        stop_reason: stop,
        stop_sequence: null,
        usage: {
          input_tokens: 10,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 5,
          service_tier: 'standard',
          ...usage,
        },
        ...more,
      });
    },
  };
}

/** Answers with an error as the API writes it, such as 529 `overloaded_error`. */
export function fail(status: number, type: string, message: string): Behaviour {
  return respond(status, errorBody(type, message));
}

function errorBody(type: string, message: string) {
  return { type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' };
}

function checkRequest(
  { url, method }: IncomingMessage,
  { headers, body }: ScriptedCall,
  signed: Map<string, string>,
): Refusal | undefined {
  const refuse = (status: number, type: string, message: string) => ({
    status,
    body: errorBody(type, message),
  });
  const invalid = (message: string) => refuse(400, 'invalid_request_error', message);
  if (method !== 'POST' || url?.split('?')[0] !== '/v1/messages')
    return refuse(404, 'not_found_error', 'Not Found');
  if (headers['x-api-key'] !== KEY || headers.authorization !== undefined)
    return refuse(401, 'authentication_error', 'invalid x-api-key');
  const version = headers['anthropic-version'];
  if (version === undefined) return invalid('anthropic-version: header is required');
  if (!VERSIONS.includes(String(version)))
    return invalid(`anthropic-version: "${version}" is not a valid version.`);
  if (version !== VERSIONS[0] && (body?.temperature ?? body?.top_p) !== undefined)
    return invalid('temperature: Extra inputs are not permitted');
  const parsed = request.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  if (!parsed.data.model.startsWith('claude-'))
    return refuse(404, 'not_found_error', `model: ${parsed.data.model}`);
  const problem =
    findModelProblem(parsed.data) ?? findTurnProblem(parsed.data, signed) ?? findSchemaProblem(parsed.data);
  return problem === undefined ? undefined : invalid(problem);
}

/** Finds a setting that the model does not take. */
function findModelProblem({
  model,
  temperature,
  top_p,
  thinking,
  tool_choice,
  output_config,
  max_tokens,
}: Request) {
  const isNew = /-(fable|mythos)-|claude-[a-z]+-5/.test(model);
  const isAlwaysOn = /-(fable|mythos)-|claude-[a-z]+-5-5/.test(model);
  const isAdaptiveOnly = isNew || /opus-4-[78]/.test(model);
  const isAdaptive = isAdaptiveOnly || /-4-6/.test(model);
  const forces = tool_choice?.type === 'any' || tool_choice?.type === 'tool';
  const thinks =
    thinking?.type === 'enabled' || thinking?.type === 'adaptive' || (isNew && thinking?.type !== 'disabled');
  if (isAdaptiveOnly && temperature !== undefined) return '`temperature` is not supported for this model.';
  if (isAdaptiveOnly && top_p !== undefined) return '`top_p` is not supported for this model.';
  if (isAdaptiveOnly && thinking?.type === 'enabled')
    return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  if (!isAdaptive && thinking?.type === 'adaptive') return 'adaptive thinking is not supported on this model';
  if (isAlwaysOn && thinking?.type === 'disabled')
    return '"thinking.type.disabled" is not supported for this model.';
  if (forces && thinks) return 'Thinking may not be enabled when tool_choice forces tool use.';
  if (thinking?.type === 'enabled' && thinking.budget_tokens >= max_tokens)
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  if (thinks && temperature !== undefined && temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.';
  if (output_config?.effort && !isAdaptive && !/opus-4-5/.test(model))
    return 'This model does not support the effort parameter.';
  if (output_config?.effort === 'xhigh' && !isAdaptiveOnly)
    return `output_config.effort: 'xhigh' is not supported for this model.`;
  return undefined;
}

/** Finds a turn that does not fit the turns around it. */
function findTurnProblem({ messages, thinking, tools, ...rest }: Request, signed: Map<string, string>) {
  const turns = messages.map(({ role, content }) => ({
    role,
    blocks: typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content,
  }));
  if (turns[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  if (turns.at(-1)?.role !== 'user')
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  for (const [index, { role, blocks }] of turns.entries()) {
    const ids = blocks.flatMap((part) => (part.type === 'tool_use' ? [part.id] : []));
    const next = turns[index + 1]?.blocks ?? [];
    const results = next.flatMap((part) => (part.type === 'tool_result' ? [part.tool_use_id] : []));
    const missing = ids.filter((id) => !results.includes(id));
    if (missing.length > 0)
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    const strange = results.find((id) => !ids.includes(id));
    if (strange !== undefined)
      return `messages.${index + 1}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${strange}.`;
    if (ids.length > 0 && !tools) return 'tools: Field required when messages contain tool_use blocks.';
    const isOrdered = next.slice(0, results.length).every(({ type }) => type === 'tool_result');
    if (!isOrdered) return `messages.${index + 1}: \`tool_result\` blocks must come first.`;
    if (role === 'user' && blocks.some(({ type }) => /thinking|tool_use/.test(type)))
      return `messages.${index}.content: this block is not allowed in a "user" turn.`;
    const isLast = index === turns.findLastIndex((turn) => turn.role === 'assistant');
    if (thinking?.type === 'enabled' && isLast && ids.length > 0 && !blocks[0]?.type.includes('thinking'))
      return `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0]?.type}\`.`;
    for (const [place, part] of blocks.entries())
      if (part.type === 'thinking' && signed.get(part.signature) !== part.thinking)
        return `messages.${index}.content.${place}: Invalid \`signature\` in \`thinking\` block`;
  }
  const breakpoints = JSON.stringify([turns, tools, rest]).split('"cache_control"').length - 1;
  return breakpoints > BREAKPOINTS_MAX
    ? `A maximum of ${BREAKPOINTS_MAX} blocks with cache_control may be provided. Found ${breakpoints}.`
    : undefined;
}

const UNSUPPORTED =
  /^(minimum|maximum|exclusiveM|multipleOf|minLength|maxLength|pattern|maxItems|uniqueItems|oneOf|not|if|patternProperties|propertyNames|minProperties|maxProperties|dependent)/;

function findSchemaProblem(
  { output_config }: Request,
  schema: unknown = output_config?.format?.schema,
): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { type, additionalProperties, properties, $defs, items, anyOf, allOf, ...rest } = schema as Record<
    string,
    never
  >;
  const keyword = Object.keys(rest).find((key) => UNSUPPORTED.test(key));
  if (keyword)
    return `output_config.format.schema: For '${type}' type, property '${keyword}' is not supported`;
  if ([type].flat().includes('object' as never) && additionalProperties !== (false as never))
    return `output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  const parts = [properties, $defs].flatMap((map) => Object.values(map ?? {}));
  for (const part of [...parts, items, ...[anyOf ?? []].flat(), ...[allOf ?? []].flat()]) {
    const problem = part === undefined ? undefined : findSchemaProblem({} as Request, part);
    if (problem) return problem;
  }
  return undefined;
}
