// The servers of providers that speak Chat Completions: each refuses what the real one refuses, with its words, and answers as the
// real one does. Their paths begin with the prefix of the provider.
import { isDeepStrictEqual } from 'node:util';
import { type FakeModelServer, type ModelCall, respond, startFakeModelServer } from './model-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and answers of every shape are looked into by path
type Data = any;

type Refusal = { status: number; body: unknown };

type ProviderServer = {
  /** The path before `/chat/completions`, with the query string that has to be kept. */
  path: string;
  query?: string;
  /** The header of the key, and the words before it; null: a server without keys. */
  key?: { header: string; scheme: string } | null;
  refuse?(body: Data): Refusal | undefined;
  /** Changes the message of an answer. */
  say?(message: Data): void;
  usage?: object;
  finish?: string;
};

export const REASONING = 'It is the capital.';
const CALL_ID = 'Xk29dMq0a';
const SIGNATURE = 'c2lnbmF0dXJl';
const DETAILS = [{ type: 'reasoning.encrypted', data: 'gAAAAA', format: 'acme-v1', index: 0 }];
const MISTRAL_FIELDS = [
  ...['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'stream', 'stop', 'random_seed'],
  ...['response_format', 'tools', 'tool_choice', 'parallel_tool_calls', 'prompt_mode', 'safe_prompt'],
  ...['prompt_cache_key', 'reasoning_effort'],
];
const MISTRAL_MESSAGE_FIELDS = ['role', 'content', 'tool_calls', 'tool_call_id', 'name', 'prefix'];

const invalid = (message: string, more: object = {}): Refusal => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param: null, code: null, ...more } },
});
const turnsWithCalls = ({ messages }: Data): Data[] => messages.filter(({ tool_calls }: Data) => tool_calls);
const reason = (field: string) => (message: Data) => {
  message[field] = REASONING;
};

const SERVERS: { [prefix: string]: ProviderServer } = {
  openai: {
    path: '/v1',
    refuse: refuseMaxTokens,
    usage: { completion_tokens_details: { reasoning_tokens: 3 } },
  },
  azure: {
    path: '/openai/v1',
    query: 'api-version=preview',
    key: { header: 'api-key', scheme: '' },
    refuse: refuseMaxTokens,
    usage: { completion_tokens_details: { reasoning_tokens: 3 } },
  },
  google: {
    path: '/v1beta/openai',
    // Gemini leaves its reasoning out of completion_tokens.
    usage: { total_tokens: 1_108 },
    say({ tool_calls }) {
      for (const call of tool_calls ?? []) call.extra_content = { google: { thought_signature: SIGNATURE } };
    },
    refuse(body) {
      const unknown = ['store', 'max_completion_tokens', 'strict'].find((field) => field in body);
      const unsigned = turnsWithCalls(body).some((turn) => !JSON.stringify(turn).includes(SIGNATURE));
      const message = unknown
        ? `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`
        : unsigned && 'Function call is missing a thought_signature in functionCall parts.';
      if (!message) return undefined;
      return { status: 400, body: [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }] };
    },
  },
  openrouter: {
    path: '/api/v1',
    usage: { cost: 0.0123 },
    say(message) {
      message.reasoning = REASONING;
      message.reasoning_details = DETAILS;
      message.refusal = null;
    },
    refuse: (body) =>
      turnsWithCalls(body).every((turn) => isDeepStrictEqual(turn.reasoning_details, DETAILS))
        ? undefined
        : invalid('Provider returned error: reasoning blocks must be passed back unchanged'),
  },
  mistral: {
    path: '/v1',
    say(message) {
      if (typeof message.content !== 'string' || message.content === '') return;
      const thinking = [{ type: 'text', text: REASONING }];
      message.content = [
        { type: 'thinking', thinking },
        { type: 'text', text: message.content },
      ];
    },
    refuse(body) {
      const extra = [
        ...unknownFields(body, MISTRAL_FIELDS, ['body']),
        ...body.messages.flatMap((message: Data, index: number) =>
          unknownFields(message, MISTRAL_MESSAGE_FIELDS, ['body', 'messages', index, message.role]),
        ),
      ];
      if (extra.length === 0) return undefined;
      const message = {
        detail: extra.map((loc) => ({ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted' })),
      };
      return { status: 422, body: { object: 'error', message, type: 'invalid_request_error', code: null } };
    },
  },
  groq: {
    path: '/openai/v1',
    say: reason('reasoning'),
    refuse: ({ messages, max_tokens }) =>
      messages.some((message: Data) => 'reasoning_content' in message)
        ? invalid("'messages.1' : for 'role:assistant' property 'reasoning_content' is unsupported")
        : max_tokens === undefined
          ? undefined
          : invalid('max_tokens is deprecated: use max_completion_tokens'),
  },
  deepseek: {
    path: '/v1',
    usage: { prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100, prompt_tokens_details: undefined },
    say: reason('reasoning_content'),
    refuse(body) {
      if (body.response_format?.type === 'json_schema')
        return invalid('This response_format type is unavailable now');
      return turnsWithCalls(body).every((turn) => typeof turn.reasoning_content === 'string')
        ? undefined
        : invalid('The reasoning_content in the thinking mode must be passed back to the API.');
    },
  },
  together: { path: '/v1', finish: 'eos', say: reason('reasoning') },
  ollama: {
    path: '/v1',
    key: null,
    usage: { prompt_tokens_details: undefined },
    say: reason('reasoning'),
    refuse: ({ messages }) =>
      JSON.stringify(messages).includes('"image_url":{"url":"http')
        ? invalid('invalid image input')
        : undefined,
  },
  vllm: {
    path: '/v1',
    key: null,
    say: reason('reasoning_content'),
    refuse: ({ model }) =>
      model === 'missing'
        ? {
            status: 404,
            body: {
              object: 'error',
              message: 'The model `missing` does not exist.',
              type: 'NotFoundError',
              param: null,
              code: 404,
            },
          }
        : undefined,
  },
};

export type ProviderServers = FakeModelServer & {
  /** Returns the variables that configure a provider. */
  envOf(prefix: string): { [variable: string]: string };
};

/** Starts a server that is all of these providers. A prompt that begins with `Stream` is answered with an event stream. */
export async function startProviderServers(): Promise<ProviderServers> {
  const server = await startFakeModelServer();
  const { origin } = new URL(server.provider.baseUrl);
  server.always((response, call) => {
    const { status, body } = answerCall(call);
    const isStream = typeof body === 'string';
    respond(status, body, isStream ? { 'content-type': 'text/event-stream' } : {})(response);
  });
  return {
    ...server,
    envOf(prefix) {
      const { path, query, key } = serverOf(prefix);
      const name = prefix.toUpperCase();
      return {
        [`${name}_BASE_URL`]: `${origin}/${prefix}${path}${query ? `?${query}` : ''}`,
        ...(key !== null && { [`${name}_API_KEY`]: keyOf(prefix) }),
      };
    },
  };
}

function serverOf(prefix: string): ProviderServer {
  const server = SERVERS[prefix];
  if (!server) throw new Error(`There is no server of ${prefix}.`);
  return server;
}

const keyOf = (prefix: string) => `key-of-${prefix}`;

function answerCall({ url, headers, body }: ModelCall): Refusal {
  const prefix = url.split('/')[1] ?? '';
  const { path, query, key = { header: 'authorization', scheme: 'Bearer ' }, ...server } = serverOf(prefix);
  if (url !== `/${prefix}${path}/chat/completions${query ? `?${query}` : ''}`)
    return { status: 404, body: { error: { message: `Resource not found: ${url}` } } };
  const wrongKey = key && headers[key.header] !== `${key.scheme}${keyOf(prefix)}`;
  const strayKey = key?.header !== 'authorization' && key && headers.authorization !== undefined;
  if (wrongKey || strayKey)
    return { status: 401, body: { error: { message: 'Access denied', code: 'invalid_api_key' } } };
  return server.refuse?.(body) ?? { status: 200, body: answer(server, body) };
}

function answer({ say, usage, finish = 'stop' }: Omit<ProviderServer, 'path'>, request: Data): unknown {
  const message: Data = { role: 'assistant', ...compose(request) };
  if (request.messages.at(-1).content?.startsWith?.('Stream')) return streamOf(message.content);
  say?.(message);
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 0,
    model: request.model,
    choices: [
      { index: 0, message, logprobs: null, finish_reason: message.tool_calls ? 'tool_calls' : finish },
    ],
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 8,
      total_tokens: 1_008,
      prompt_tokens_details: { cached_tokens: 900 },
      ...usage,
    },
  };
  return completion;
}

/** Composes an answer: of tool results, a tool call, a JSON value or a text. */
function compose({ messages, tools, response_format: format }: Data): Data {
  const last = messages.at(-1);
  if (last.role === 'tool') return { content: `${last.content} in Oslo` };
  if (tools) {
    const call = { name: tools[0].function.name, arguments: '{"city":"Oslo"}' };
    return { content: '', tool_calls: [{ id: CALL_ID, type: 'function', function: call }] };
  }
  const text = JSON.stringify(messages);
  if (format?.type === 'json_schema' || text.includes('JSON Schema')) return { content: '{"city":"Oslo"}' };
  return { content: text.includes('image_url') ? 'A cat' : 'Oslo' };
}

function streamOf(text: string): string {
  const chunk = (delta: object, finish_reason: string | null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const half = Math.ceil(text.length / 2);
  const chunks = [
    chunk({ role: 'assistant', content: text.slice(0, half) }, null),
    chunk({ content: text.slice(half) }, 'stop'),
  ];
  return [...chunks.map((each) => JSON.stringify(each)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

function refuseMaxTokens({ max_tokens, response_format: format }: Data): Refusal | undefined {
  if (max_tokens !== undefined)
    return invalid(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { param: 'max_tokens', code: 'unsupported_parameter' },
    );
  const schema = format?.json_schema;
  const { additionalProperties } = schema?.schema ?? {};
  return schema?.strict && additionalProperties !== false
    ? invalid("Invalid schema for response_format: 'additionalProperties' is required to be false.")
    : undefined;
}

function unknownFields(object: object, known: string[], at: (string | number)[]): (string | number)[][] {
  return Object.keys(object)
    .filter((field) => !known.includes(field))
    .map((field) => [...at, field]);
}
