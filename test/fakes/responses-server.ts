// OpenAI's Responses API: refuses what the real one refuses, with its words, and answers as the real one does.
import { z } from 'zod';
import type { Provider } from '../../platform/config/config.ts';
import { type Behaviour, respond } from './model-server.ts';
import { type Refusal, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

const KEY = 'key-of-the-test';
const REASONS = /^(?!gpt-4|gpt-5-chat|gpt-99)/;
const notInChat = (model: string) =>
  `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
const NO_ENCRYPTED = 'Encrypted content is not supported with this model.';

const breakpoint = { prompt_cache_breakpoint: z.strictObject({ mode: z.literal('explicit') }).optional() };
const content = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('input_text'), text: z.string(), ...breakpoint }),
      z.strictObject({
        type: z.literal('input_image'),
        image_url: z.string(),
        detail: z.enum(['low', 'high', 'auto', 'original']),
        ...breakpoint,
      }),
    ]),
  ),
]);
const item = z.union([
  z.strictObject({
    role: z.enum(['user', 'system', 'developer', 'assistant']),
    content,
    type: z.literal('message').optional(),
  }),
  z.strictObject({
    type: z.literal('message'),
    id: z.string(),
    role: z.literal('assistant'),
    status: z.string(),
    content: z.array(z.looseObject({ type: z.enum(['output_text', 'refusal']) })),
    phase: z.string().nullish(),
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(z.unknown()),
    encrypted_content: z.string().nullish(),
    content: z.array(z.unknown()).optional(),
    status: z.string().nullish(),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    id: z.string().optional(),
    status: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('function_call_output'), call_id: z.string(), output: z.string() }),
]);
const request = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(item).min(1)]),
  store: z.boolean().optional(),
  stream: z.boolean().optional(),
  include: z.array(z.literal('reasoning.encrypted_content')).optional(),
  max_output_tokens: z.int().min(16).optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  reasoning: z
    .strictObject({ effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']) })
    .optional(),
  text: z
    .strictObject({
      format: z.strictObject({
        type: z.literal('json_schema'),
        name: z.string(),
        schema: z.record(z.string(), z.unknown()),
        strict: z.boolean().optional(),
      }),
    })
    .optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        name: z.string(),
        description: z.string().optional(),
        parameters: z.record(z.string(), z.unknown()),
        strict: z.boolean(),
      }),
    )
    .optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), name: z.string() }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  prompt_cache_key: z.string().optional(),
});

type Request = z.infer<typeof request>;
type Reasoning = { type?: string; id?: string; encrypted_content?: string };

export type FakeResponses = ScriptedServer & {
  provider: Provider;
  /**
   * Answers with a response of these output items; a text stands for a message. `more` overrides fields of the response.
   * Reasoning is encrypted where the request asks for it.
   */
  give(output: string | unknown[], more?: object): Behaviour;
};

/** Starts the server. It knows the encrypted reasoning it gave, and refuses items that were changed. */
export async function startFakeResponses(): Promise<FakeResponses> {
  const given = new Map<string, string>();
  const server = await startScriptedServer(({ url, method }, { headers, body }) => {
    if (url === '/v1/chat/completions' && body.tools)
      return refuse(400, notInChat(body.model), null, 'reasoning_effort');
    if (method !== 'POST' || url?.split('?')[0] !== '/v1/responses') return refuse(404, 'Not Found', null);
    if (headers.authorization !== `Bearer ${KEY}`)
      return refuse(401, 'Incorrect API key provided', 'invalid_api_key');
    const parsed = request.safeParse(body);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return refuse(400, `Invalid request: '${issue?.path.join('.')}': ${issue?.message}`, 'invalid_value');
    }
    const problem = findProblem(parsed.data, given);
    if (problem === undefined) return undefined;
    return refuse(400, problem, null, problem === NO_ENCRYPTED ? 'include' : null);
  });
  return {
    ...server,
    provider: {
      name: 'openai',
      api: 'openai-responses',
      baseUrl: `${server.origin}/v1`,
      apiKey: KEY,
      refusedFields: ['max_tokens'],
    },
    give(output, more = {}) {
      const items = typeof output === 'string' ? [say(output)] : output;
      for (const { type, id = '', encrypted_content = '' } of items as Reasoning[])
        if (type === 'reasoning') given.set(id, encrypted_content);
      const answer = (output: unknown[]) => ({
        id: 'resp_67ccd2bed1ec8190',
        object: 'response',
        created_at: 1_741_476_542,
        status: 'completed',
        error: null,
        incomplete_details: null,
        model: 'gpt-5-2025-08-07',
        output,
        usage: {
          input_tokens: 10,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 5,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 15,
        },
        ...more,
      });
      return (response) => {
        const isEncrypted = server.calls.at(-1)?.body.include !== undefined;
        respond(200, answer(isEncrypted ? items : items.map(withoutEncrypted)))(response);
      };
    },
  };
}

/** Returns the item of a message with this text. */
function say(text: string) {
  return {
    type: 'message',
    id: 'msg_67ccd2bf17f0819081ff3bb2cf6508e6',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
}

/** Returns an output item as a request gets it that did not ask for encrypted reasoning. */
function withoutEncrypted(item: unknown): unknown {
  return (item as Reasoning).type === 'reasoning'
    ? { ...(item as Reasoning), encrypted_content: null }
    : item;
}

function refuse(status: number, message: string, code: string | null, param: string | null = null): Refusal {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

function findProblem(
  { model, input, include, temperature, reasoning, store }: Request,
  given: Map<string, string>,
) {
  const reasons = REASONS.test(model);
  if (include && !reasons) return NO_ENCRYPTED;
  if (reasoning && !reasons)
    return "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
  if (temperature !== undefined && reasons)
    return "Unsupported parameter: 'temperature' is not supported with this model.";
  const items = typeof input === 'string' ? [] : input;
  const called = new Set<string>();
  for (const [index, entry] of items.entries()) {
    if (!('type' in entry) || entry.type === undefined) continue;
    if (entry.type === 'function_call') called.add(entry.call_id);
    if (entry.type === 'function_call_output' && !called.has(entry.call_id))
      return `No tool call found for function call output with call_id ${entry.call_id}.`;
    if (entry.type !== 'reasoning') continue;
    if (!entry.encrypted_content && store === false)
      return `Item with id '${entry.id}' not found. Items are not persisted when \`store\` is set to false.`;
    if (given.get(entry.id) !== entry.encrypted_content)
      return `The encrypted content for item ${entry.id} could not be verified.`;
    if (items[index + 1] === undefined)
      return `Item '${entry.id}' of type 'reasoning' was provided without its required following item.`;
  }
  const answered = items.flatMap((entry) =>
    'type' in entry && entry.type === 'function_call_output' ? [entry.call_id] : [],
  );
  const open = [...called].find((id) => !answered.includes(id));
  return open === undefined ? undefined : `No tool output found for function call ${open}.`;
}
