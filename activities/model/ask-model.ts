// The processor of an llm block: a chat completion, with structured output when the block has an outputSchema.
import type { OpenAI } from 'openai';
import type { Block, Json, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { JSON_DEPTH_MAX, MODEL_TIMEOUT_DEFAULT_MS, TOOL_MESSAGES_MAX_BYTES } from '../../flow/limits.ts';
import type { LastAnswer } from '../../flow/model-call.ts';
import type { Attachment } from '../../flow/run.ts';
import type { ToolCallMessage, ToolChoice, ToolDefinition } from '../../flow/tool-calls.ts';
import type { Provider } from '../../platform/config/config.ts';
import { ThreadStarved } from '../../platform/json-schema/thread-pool.ts';
import { describeMismatch } from '../../platform/json-schema/validator.ts';
import { measureJson, mostOf } from '../../platform/json-text/measure-json.ts';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { buildMessages } from '../../platform/models/build-messages.ts';
import { promptMaxChars } from '../../platform/models/prompt-size.ts';
import type { Registry, TokenUsage } from '../../platform/models/registry.ts';
import { log } from '../../platform/observability/log.ts';
import { retryInPlace } from '../attempts/retry-in-place.ts';
import { type BlockOutput, outputTooLarge } from '../attempts/serialize-output.ts';
import type { AnswerLengths } from './answer-lengths.ts';
import { type Ask, type ChatAnswer, completeChat } from './complete-chat.ts';
import { cutAnswer } from './describe-answer.ts';
import { estimateUsage } from './estimate-usage.ts';
import type { ReserveAnswer } from './model-client.ts';
import { measureModelCall, measureUsage } from './observe-model-call.ts';
import type { ProviderOutages } from './provider-outages.ts';
import { readModelJson } from './read-answer.ts';

/** A path consists of the model's own keys, which may be long. */
const PATH_MAX_LENGTH = 300;

type Problem = { path: string; message: string };

/** Tokens and cost of all answers for one block, a repair included. `reserved`: credits were set aside for a block of code. */
export type ModelUsage = TokenUsage & { model?: string; costMicrocredits: number; reserved?: boolean };

/** A block and the conversation that its model gets: the rendered prompt, then the tool calls and results so far. */
export type ModelRequest = {
  block: Block;
  conversation: ToolCallMessage[];
  attachments?: Attachment[] | undefined;
  tools?: ToolDefinition[] | undefined;
  tool_choice?: ToolChoice | undefined;
  organizationId: string;
  /** Updated after each answer, so that an answer which leads to a failure is charged too. */
  usage: ModelUsage;
  /** Holds the model's last answer in `last`, for the trace of a block that fails. */
  answers: { last?: LastAnswer };
  /** The model's answer to an earlier attempt: `usage` includes it, and only its repair is requested. */
  answered?: string | undefined;
  /** Keeps an answer for a later attempt before it is validated; returns false when it is too large. */
  keepAnswer(text: string): boolean;
  /** Waits for memory for a large answer. */
  reserveAnswer: ReserveAnswer;
  /**
   * Begins each request: reserves the block's estimated total cost in microcredits and returns the provider to ask. Its errors
   * are passed on.
   */
  begin(microcredits: number): Promise<Provider>;
};

export type ModelDeps = {
  registry: Registry;
  providerOutages: ProviderOutages;
  answerLengths: AnswerLengths;
  /** Returns [] when the value matches; `path` is a JSON Pointer. */
  validator: { validate(schema: JsonSchema, value: Json): Promise<Problem[]> };
  largeValues: Pick<LargeValues, 'json'>;
};

/**
 * Calls the block's model; returns the text, or the value that matches the outputSchema. An answer that does not match it is sent
 * back once for a repair. Throws ModelUnavailable when a retry may help, ServiceError when it cannot, and the signal's reason when
 * it is aborted.
 */
export async function askModel(
  deps: ModelDeps,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<BlockOutput> {
  const { model = '', outputSchema: schema, processor_config: config = {} } = request.block;
  const { organizationId, usage, tools = [] } = request;
  const { json_schema: hasFormat, output_tokens, timeout_ms } = deps.registry.capabilities(model);
  usage.model = model;
  const answerTokens = config.max_tokens ?? output_tokens;
  const { messages, format } = buildMessages(request, { hasFormat });

  let repairRequest: string | null = null;

  async function ask(choice = request.tool_choice): Promise<ChatAnswer> {
    const asked = {
      messages,
      response_format: format,
      ...(tools.length > 0 && { tools, tool_choice: choice }),
    } as Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>;
    const recent = deps.answerLengths.expect(organizationId, model);
    const expected = estimateUsage(asked, Math.min(answerTokens ?? Infinity, recent));
    const estimate = deps.registry.costMicrocredits(model, expected);
    const provider = await request.begin(usage.costMicrocredits + estimate);
    const asking: Ask = {
      organizationId,
      asText: schema !== undefined || tools.length > 0,
      noteAnswer(answer) {
        request.answers.last = { ...answer, repairRequest };
      },
      acceptsCut: config.on_length === 'accept' && schema === undefined && tools.length === 0,
      params: { ...asked, ...sampling(config), ...answerLimit(model, answerTokens) },
      timeoutMs: config.timeout_ms ?? timeout_ms ?? MODEL_TIMEOUT_DEFAULT_MS,
      offered: choice === 'none' ? [] : tools,
      signal,
      reserveAnswer: request.reserveAnswer,
      expected,
      count(answer) {
        usage.promptTokens += answer.promptTokens;
        usage.completionTokens += answer.completionTokens;
        deps.answerLengths.add(organizationId, model, answer.completionTokens);
        if (!provider.own) usage.costMicrocredits += deps.registry.costMicrocredits(model, answer);
        measureUsage(deps.registry, model, answer, provider.own ?? false);
      },
    };
    return measureModelCall(deps.registry, model, provider, () =>
      deps.providerOutages.report(model, provider, () =>
        completeChat(deps.largeValues.json, provider, model, asking),
      ),
    );
  }

  if (request.answered !== undefined)
    request.answers.last = {
      ...cutAnswer(request.answered),
      finishReason: null,
      usage: { promptTokens: usage.promptTokens, completionTokens: usage.completionTokens },
      repairRequest,
    };
  const { text, toolCalls, json, tooLong }: ChatAnswer =
    request.answered === undefined ? await ask() : { text: request.answered, toolCalls: [] };
  if (tooLong !== undefined) throw outputTooLarge(`${tooLong} characters`);
  // One text.
  if (json) return { json, values: 1 };
  if (toolCalls.length > 0) {
    const asked = { role: 'assistant', content: text || null, tool_calls: toolCalls };
    const output = [...request.conversation, asked] as Json;
    requireResumableSize(model, output);
    return { output, paused: true };
  }
  if (schema === undefined) return { output: text };
  async function repair(problems: Problem[]): Promise<string> {
    messages.push({ role: 'assistant', content: text });
    const content = repairPrompt(problems.map(describeMismatch));
    messages.push({ role: 'user', content });
    repairRequest = cutAnswer(content).text;
    if (request.answers.last) request.answers.last.repairRequest = repairRequest;
    return (await ask('none')).text;
  }
  return { output: await answerAgainstSchema(deps, request, schema, text, { repair, signal }) };
}

/**
 * Returns the value of an answer, or of its repair. Throws MODEL_OUTPUT_INVALID if neither matches the schema, and
 * INTERNAL_ERROR if the answer could not be checked and was not stored.
 */
async function answerAgainstSchema(
  deps: ModelDeps,
  request: ModelRequest,
  schema: JsonSchema,
  text: string,
  { repair, signal }: { repair(problems: Problem[]): Promise<string>; signal: AbortSignal },
): Promise<Json> {
  const { model = '' } = request.block;
  // Keep the paid answer, so that a refused repair does not make the next attempt ask, and pay, for it again.
  const isKept = request.answered !== undefined || request.keepAnswer(text);
  const readNow = () => readOutput(deps, schema, text);
  let reading = await (isKept ? readNow() : checkInHand(readNow, model, signal));
  if (reading.problems.length === 0) return reading.value;
  // A repair sends back the answer, which may be far longer than the prompt.
  const maxChars = promptMaxChars(deps.registry.capabilities(model));
  const fits = isKept && charsOf(request.conversation) + text.length <= maxChars;
  if (fits) {
    const repaired = await repair(reading.problems);
    reading = await checkInHand(() => readOutput(deps, schema, repaired), model, signal);
  }
  if (reading.problems.length === 0) return reading.value;
  const tried = fits ? 'even after one repair' : 'and is too long to be sent back for a repair';
  throw new ServiceError(
    'MODEL_OUTPUT_INVALID',
    `The answer of ${model} does not match the outputSchema, ${tried}: ${reading.problems.map(describeMismatch).join('; ')}.`,
    { model, problems: reading.problems },
  );
}

function charsOf(conversation: ToolCallMessage[]): number {
  return conversation.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
}

/** Throws MESSAGES_TOO_LARGE for a conversation that is too large for a resume to send back. */
function requireResumableSize(model: string, conversation: Json): void {
  const json = Buffer.from(JSON.stringify(conversation));
  const excess =
    json.length > TOOL_MESSAGES_MAX_BYTES
      ? `has ${json.length} bytes; a resume may send at most ${TOOL_MESSAGES_MAX_BYTES}`
      : measureJson(json, mostOf(TOOL_MESSAGES_MAX_BYTES)).excess;
  if (excess)
    throw new ServiceError(
      'MESSAGES_TOO_LARGE',
      `With the tool calls of ${model}, the conversation ${excess}.`,
      { model },
    );
}

/** Picks the settings sent to the model unchanged. Absent settings are not sent. */
function sampling({
  temperature,
  top_p,
  stop,
  seed,
  reasoning_effort,
}: NonNullable<Block['processor_config']>) {
  return { temperature, top_p, stop, seed, reasoning_effort };
}

/** OpenAI's reasoning models refuse `max_tokens`; other servers may not know `max_completion_tokens`. */
function answerLimit(model: string, tokens: number | undefined) {
  if (tokens === undefined) return {};
  return model.startsWith('openai/') ? { max_completion_tokens: tokens } : { max_tokens: tokens };
}

async function readOutput(deps: ModelDeps, schema: JsonSchema, text: string) {
  const value = readModelJson(text);
  if (value === undefined) {
    return {
      value: null,
      problems: [
        {
          path: '',
          message: `is not JSON of at most ${JSON_DEPTH_MAX} levels, with whole numbers of at most 53 bits and no number beyond 1.8e308`,
        },
      ],
    };
  }
  const problems = await deps.validator.validate(schema, value);
  return {
    value,
    problems: problems.map((problem) => ({ ...problem, path: problem.path.slice(0, PATH_MAX_LENGTH) })),
  };
}

function repairPrompt(problems: string[]): string {
  return `Your answer does not match the JSON Schema:\n- ${problems.join('\n- ')}\nAnswer with the corrected JSON value only.`;
}

/**
 * Checks an answer that is in memory only. When the check fails for a reason of the service, it is repeated in place:
 * asking the model again would cost again.
 */
async function checkInHand<T>(check: () => Promise<T>, model: string, signal: AbortSignal): Promise<T> {
  try {
    return await retryInPlace(check, { isLocal: true, signal });
  } catch (error) {
    if (error instanceof ServiceError || signal.aborted) throw error;
    log.error({ model, err: error }, 'An answer could not be checked against its JSON Schema.');
    const why =
      error instanceof ThreadStarved ? 'the service was too busy' : 'for a reason inside the service';
    throw new ServiceError(
      'INTERNAL_ERROR',
      `The answer of ${model} could not be checked against the outputSchema: ${why}.`,
      { model },
    );
  }
}
