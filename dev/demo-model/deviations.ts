// The ways in which the demo server can deviate from OpenAI's API, as model servers do. Each is a model: `demo/quota`.
import type { ChatRequest } from './chat-request.ts';

type Message = Record<string, unknown> & {
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
};
type Usage = { prompt_tokens?: number; completion_tokens: number; total_tokens: number } & Record<
  string,
  unknown
>;

/** A chat completion with one choice. */
export type Completion = {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: [{ index: 0; message: Message; logprobs: null; finish_reason?: string }];
  usage?: Usage;
};

type Refusal = { status: number; body: unknown };

export type Deviation = {
  /** One sentence for the list of models. */
  description: string;
  /** Returns the refusal of a request that deserves it. */
  refuse?(request: ChatRequest): Refusal | undefined;
  /** Only every second of the same requests in a row is refused: the first one, then the third. */
  once?: true;
  /** Returns the request that is answered in its place. */
  prepare?(request: ChatRequest): ChatRequest;
  change?(completion: Completion, request: ChatRequest): unknown;
  /** How the answer is sent: as an event stream, with a line after its JSON, or cut off in the middle. */
  sent?: 'as stream' | 'with done line' | 'in half';
};

const NO_SUCH_TOOL = 'no_such_tool';
const REASONING = 'The user asked for this. I answer.';
const SIGNATURE = 'c2lnbmF0dXJlIG9mIGEgdGhvdWdodA==';
const NO_MODEL = 'The model llama-9 does not exist';

export const DEVIATIONS: { [model: string]: Deviation } = {
  reasoning: {
    description: 'Reasons in reasoning_content, and wants it back with the tool calls.',
    change: ({ choices: [{ message }] }) => Object.assign(message, { reasoning_content: REASONING }),
    refuse: ({ messages }) =>
      refuseWhere(
        messages,
        ({ tool_calls, reasoning_content }) => tool_calls && reasoning_content !== REASONING,
        {
          message: 'The reasoning_content in the thinking mode must be passed back to the API.',
        },
      ),
  },
  signature: {
    description: 'Signs its tool calls in extra_content, and wants the signature back.',
    change({ choices: [{ message }] }) {
      for (const call of message.tool_calls ?? [])
        Object.assign(call, { extra_content: { google: { thought_signature: SIGNATURE } } });
    },
    refuse: ({ messages }) =>
      refuseWhere(
        messages,
        ({ tool_calls }) => tool_calls && !JSON.stringify(tool_calls).includes(SIGNATURE),
        { message: 'Function call is missing a thought_signature in functionCall parts.' },
      ),
  },
  parts: {
    description: 'Answers with a list of text parts.',
    change: ({ choices: [{ message }] }) => Object.assign(message, { content: partsOf(message) }),
  },
  thinking: {
    description: 'Answers with a list of parts, of which one is its thinking.',
    change({ choices: [{ message }] }) {
      const thinking = { type: 'thinking', thinking: [{ type: 'text', text: REASONING }] };
      message.content = [thinking, ...partsOf(message)];
    },
  },
  prose: {
    description: 'Writes a sentence before its answer and one after it.',
    change: wrapText((text) => `Here is the JSON you asked for:\n${text}\n\nNote: I made it up.`),
  },
  fence: {
    description: 'Writes its answer in a code fence of one line.',
    change: wrapText((text) => `\`\`\`json ${text} \`\`\``),
  },
  bom: {
    description: 'Begins its answer with a byte order mark.',
    change: wrapText((text) => `\ufeff${text}`),
  },
  streams: { description: 'Streams its answer although nobody asked for that.', sent: 'as stream' },
  'done-line': { description: 'Ends its JSON with the last line of a stream.', sent: 'with done line' },
  'hang-up': { description: 'Ends the connection in the middle of its answer.', sent: 'in half' },
  'error-detail': {
    description: 'Refuses with {detail}.',
    refuse: () => ({ status: 400, body: { detail: NO_MODEL } }),
  },
  'error-bare': {
    description: 'Refuses with {message}, as vLLM did.',
    refuse: () => ({
      status: 400,
      body: { object: 'error', message: NO_MODEL, type: 'NotFoundError', code: 404 },
    }),
  },
  'error-list': {
    description: 'Refuses with {errors: [...]}.',
    refuse: () => ({
      status: 400,
      body: { result: null, success: false, errors: [{ code: 7003, message: NO_MODEL }] },
    }),
  },
  'error-array': {
    description: 'Refuses with [{error}], as Google does.',
    refuse: () => ({
      status: 400,
      body: [{ error: { code: 400, message: NO_MODEL, status: 'INVALID_ARGUMENT' } }],
    }),
  },
  'error-in-200': {
    description: 'Answers with status 200 and an error, as OpenRouter does.',
    refuse: () => ({ status: 200, body: { error: { message: 'Provider returned error', code: 400 } } }),
  },
  quota: {
    description: 'Refuses since the account has no quota left.',
    refuse: () =>
      refusal(429, {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
  },
  timeout: {
    description: 'Refuses the first of two equal requests with a 400 that may pass.',
    once: true,
    refuse: () =>
      refusal(400, {
        message: 'Timeout while downloading https://img.example/c.png.',
        code: 'invalid_image_url',
      }),
  },
  'tool-failure': {
    description: 'Refuses the first of two equal requests since it wrote a tool call that cannot be read.',
    once: true,
    refuse: ({ tools }) =>
      tools &&
      refusal(400, {
        message: 'Failed to call a function. Please adjust your prompt.',
        code: 'tool_use_failed',
        failed_generation: '<function=',
      }),
  },
  'schema-refused': {
    description: 'Refuses response_format with a JSON Schema.',
    refuse: ({ response_format: format }) =>
      format?.type === 'json_schema'
        ? refusal(400, {
            message:
              "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            param: 'response_format',
          })
        : undefined,
  },
  'strict-refused': {
    description: 'Refuses a JSON Schema with strict: true.',
    refuse: ({ response_format: format }) =>
      format?.type === 'json_schema' && format.json_schema.strict === true
        ? refusal(400, { message: "Invalid schema for response_format 'output'.", param: 'response_format' })
        : undefined,
  },
  'tool-prefix': {
    description: 'Writes functions. before the name of a tool.',
    change: renameCalls((name) => `functions.${name}`),
  },
  'tool-suffix': {
    description: 'Writes <|channel|>commentary after the name of a tool.',
    change: renameCalls((name) => `${name}<|channel|>commentary`),
  },
  'wrong-tool-once': {
    description: 'Calls a tool that does not exist, and the right one when it is told so.',
    prepare: withoutWrongCalls,
    change: (completion, request) =>
      withoutWrongCalls(request) === request && renameCalls(() => NO_SUCH_TOOL)(completion),
  },
  'wrong-tool': {
    description: 'Calls a tool that does not exist, again and again.',
    prepare: withoutWrongCalls,
    change: renameCalls(() => NO_SUCH_TOOL),
  },
  'no-arguments': {
    description: 'Calls tools with empty arguments.',
    change({ choices: [{ message }] }) {
      for (const call of message.tool_calls ?? []) call.function.arguments = '';
    },
  },
  empty: {
    description: 'Answers with an empty text.',
    change: ({ choices: [{ message }] }) => Object.assign(message, { content: '' }),
  },
  'cut-off': {
    description: 'Stops at a token limit of its own, in the middle of its answer.',
    change({ choices: [choice] }) {
      wrapText((text) => text.slice(0, text.length / 2))({ choices: [choice] });
      choice.finish_reason = 'length';
    },
  },
  filtered: {
    description: 'Its content filter stops the answer.',
    change({ choices: [choice] }) {
      wrapText((text) => text.slice(0, text.length / 2))({ choices: [choice] });
      choice.finish_reason = 'content_filter';
    },
  },
  refusal: {
    description: 'Refuses to answer.',
    change: ({ choices: [{ message }] }) =>
      Object.assign(message, { content: null, refusal: "I'm sorry, but I can't help with that." }),
  },
  'no-finish': {
    description: 'Does not say why its answer ended.',
    change: ({ choices: [choice] }) => delete choice.finish_reason,
  },
  'odd-finish': {
    description: 'Ends with the finish reason abort.',
    change: ({ choices: [choice] }) => Object.assign(choice, { finish_reason: 'abort' }),
  },
  'usage-cached': {
    description: 'Says that most of the prompt was cached.',
    change({ usage }) {
      const cached_tokens = Math.floor(0.9 * (usage?.prompt_tokens ?? 0));
      if (usage) usage.prompt_tokens_details = { cached_tokens };
    },
  },
  'usage-reasoning': {
    description: 'Counts 100 reasoning tokens, which completion_tokens leaves out.',
    change({ usage }) {
      if (!usage) return;
      usage.completion_tokens_details = { reasoning_tokens: 100 };
      usage.total_tokens += 100;
    },
  },
  'usage-missing': {
    description: 'Leaves out prompt_tokens.',
    change: ({ usage }) => delete usage?.prompt_tokens,
  },
  'usage-none': { description: 'Reports no usage.', change: (completion) => delete completion.usage },
};

function refusal(status: number, error: object): Refusal {
  return { status, body: { error: { type: 'invalid_request_error', param: null, code: null, ...error } } };
}

/** Refuses a request with a message that the test finds. */
function refuseWhere(
  messages: ChatRequest['messages'],
  test: (message: ChatRequest['messages'][number]) => unknown,
  error: object,
): Refusal | undefined {
  return messages.some(test) ? refusal(400, error) : undefined;
}

function partsOf({ content }: Message): object[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

function wrapText(wrap: (text: string) => string) {
  return ({ choices: [{ message }] }: Pick<Completion, 'choices'>): void => {
    if (typeof message.content === 'string') message.content = wrap(message.content);
  };
}

function renameCalls(rename: (name: string) => string) {
  return ({ choices: [{ message }] }: Completion): void => {
    for (const call of message.tool_calls ?? []) call.function.name = rename(call.function.name);
  };
}

/** Returns a request without the calls of a tool that does not exist and their results; the request itself where it has none. */
function withoutWrongCalls(request: ChatRequest): ChatRequest {
  const wrong = request.messages.filter(({ tool_calls: calls }) =>
    calls?.some((call) => call.function.name === NO_SUCH_TOOL),
  );
  if (wrong.length === 0) return request;
  const ids = new Set(wrong.flatMap(({ tool_calls: calls }) => calls?.map(({ id }) => id)));
  const isWrong = (message: ChatRequest['messages'][number]) =>
    wrong.includes(message) || ids.has(message.tool_call_id);
  return { ...request, messages: request.messages.filter((message) => !isWrong(message)) };
}
