// The processor of an llm block: a chat completion, with structured output when the block has an outputSchema.
import type { OpenAI } from 'openai';
import type { Block, Json, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { MODEL_TIMEOUT_DEFAULT_MS, TOOL_MESSAGES_MAX_BYTES } from '../../flow/limits.ts';
import type { LastAnswer } from '../../flow/model-call.ts';
import type { Attachment } from '../../flow/run.ts';
import {
  type AssistantMessage,
  countRounds,
  type ToolCallMessage,
  type ToolChoice,
  type ToolDefinition,
} from '../../flow/tool-calls.ts';
import type { Provider } from '../../platform/config/config.ts';
import { ThreadStarved } from '../../platform/json-schema/thread-pool.ts';
import { describeMismatch } from '../../platform/json-schema/validator.ts';
import { measureJson, mostOf } from '../../platform/json-text/measure-json.ts';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { addInstruction, buildMessages } from '../../platform/models/build-messages.ts';
import { promptMaxChars } from '../../platform/models/prompt-size.ts';
import type { Registry } from '../../platform/models/registry.ts';
import { addUsage, type TokenUsage, toAnswerTokens } from '../../platform/models/token-usage.ts';
import { toSentTool } from '../../platform/models/tool-schema.ts';
import { log } from '../../platform/observability/log.ts';
import { retryInPlace } from '../attempts/retry-in-place.ts';
import { type BlockOutput, outputTooLarge } from '../attempts/serialize-output.ts';
import type { AnswerLengths } from './answer-lengths.ts';
import { type Ask, type ChatAnswer, completeChat } from './complete-chat.ts';
import { cutAnswer } from './describe-answer.ts';
import { estimateUsage } from './estimate-usage.ts';
import type { ReserveAnswer } from './fetch-answer.ts';
import { answerLimit } from './fit-to-provider.ts';
import { type FormatRefusals, isFormatRefusal } from './format-refusals.ts';
import { measureModelCall, measureUsage } from './observe-model-call.ts';
import type { ProviderOutages } from './provider-outages.ts';
import { isJsonText, type OutputValidator, type Problem, type Reading, readOutput } from './read-output.ts';
import type { ToolTurn } from './read-tool-calls.ts';

/** The model is not asked again after so many answers with bad tool calls. */
const BAD_TURNS_MAX = 5;

/** Nor after so many that cannot be used at all. */
const UNUSABLE_MAX = 1;
/** Stands for an empty answer that is to be repaired. */
const NO_ANSWER = '(no answer)';

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
  /** The model's turns with bad tool calls, and their results, after the conversation; those of an earlier attempt first. */
  turns: ToolCallMessage[];
  /** How often the model may still ask for tools. */
  roundsLeft: number;
  /** The model's answer to an earlier attempt: `usage` includes it, and only its repair is requested. */
  answered?: string | undefined;
  /** Keeps `turns`, and an answer before it is validated, for a later attempt; returns false when they are too large. */
  keepAnswer(text?: string): boolean;
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
  formatRefusals: FormatRefusals;
  validator: OutputValidator;
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
  const answering = { organizationId, model, stepId: request.block.step_id };
  const answerTokens = config.max_tokens ?? output_tokens;
  const sentTools = tools.map(toSentTool);
  const conversation = [...request.conversation, ...request.turns];
  const { messages, isWrapped, ...built } = buildMessages({ ...request, conversation }, { hasFormat });
  const ttl = config.prompt_cache ?? '5m';
  const cache = ttl === 'off' ? undefined : { ttl, stable: built.stable, continues: tools.length > 0 };
  let format = built.format;
  if (format && deps.formatRefusals.has(organizationId, model, format)) giveInstructions();

  let repairRequest: string | null = null;
  let unusable = 0;

  function giveInstructions(): void {
    const added = addInstruction(messages, schema as JsonSchema);
    if (cache) cache.stable += added;
    format = undefined;
  }

  /** Asks once more, with the schema in the instructions, where the provider refuses the format; a refusal is free. */
  async function ask(choice = request.tool_choice): Promise<ChatAnswer> {
    try {
      return await askOnce(choice);
    } catch (error) {
      const refused = format;
      if (!refused || !isFormatRefusal(error)) throw error;
      giveInstructions();
      const answer = await askOnce(choice);
      deps.formatRefusals.note(organizationId, model, refused, error);
      return answer;
    }
  }

  async function askOnce(choice: ToolChoice | undefined): Promise<ChatAnswer> {
    const asked = {
      messages,
      response_format: format,
      ...(tools.length > 0 && { tools: sentTools, tool_choice: choice }),
    } as Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>;
    const recent = deps.answerLengths.expect(answering);
    const expected = estimateUsage(asked, Math.min(answerTokens ?? Infinity, recent));
    const estimate = deps.registry.costMicrocredits(model, expected);
    const begun = await request.begin(usage.costMicrocredits + estimate);
    const provider = config.api ? { ...begun, api: config.api } : begun;
    const asking: Ask = {
      organizationId,
      asText: schema !== undefined || tools.length > 0,
      noteAnswer(answer) {
        request.answers.last = { ...answer, repairRequest };
      },
      acceptsEmpty: schema !== undefined || request.conversation.some(({ role }) => role === 'tool'),
      acceptsCut: config.on_length === 'accept' && schema === undefined && tools.length === 0,
      params: { ...asked, ...sampling(config), ...answerLimit(answerTokens, provider) },
      timeoutMs: config.timeout_ms ?? timeout_ms ?? MODEL_TIMEOUT_DEFAULT_MS,
      offered: choice === 'none' ? [] : tools,
      signal,
      cache,
      reserveAnswer: request.reserveAnswer,
      expected,
      count(counted) {
        const answer = { ...counted, images: expected.images ?? 0 };
        addUsage(usage, answer);
        deps.answerLengths.add(answering, answer.completionTokens);
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

  /** Has the model answer once more after tool calls that nobody can run. Throws MODEL_OUTPUT_INVALID after too many. */
  async function askAgain(
    message: AssistantMessage,
    { problem, results }: NonNullable<ToolTurn['bad']>,
  ): Promise<ChatAnswer> {
    request.turns.push(message, ...results);
    const rounds = countRounds(request.turns);
    if (rounds >= BAD_TURNS_MAX || rounds > request.roundsLeft || !request.keepAnswer())
      throw new ServiceError(
        'MODEL_OUTPUT_INVALID',
        `The tool calls of ${model} can't be used, in ${rounds} ${rounds === 1 ? 'answer' : 'answers in a row'}: ${problem}`,
        { model },
      );
    messages.push(...([message, ...results] as OpenAI.Chat.ChatCompletionMessageParam[]));
    repairRequest = cutAnswer(problem).text;
    return ask();
  }

  /** Asks the same again after an answer that cannot be used. Throws its failure the second time. */
  async function askOnceMore(failure: ServiceError): Promise<ChatAnswer> {
    unusable += 1;
    if (unusable > UNUSABLE_MAX || !request.keepAnswer()) throw failure;
    return ask();
  }

  if (request.answered !== undefined)
    request.answers.last = {
      ...cutAnswer(request.answered),
      finishReason: null,
      usage: toAnswerTokens(usage),
      repairRequest,
    };
  let answer: ChatAnswer = request.answered === undefined ? await ask() : { text: request.answered };
  for (;;) {
    if (answer.turn?.bad) answer = await askAgain(answer.turn.message, answer.turn.bad);
    else if (answer.unusable) answer = await askOnceMore(answer.unusable);
    else break;
  }
  const { turn, json, tooLong } = answer;
  if (tooLong !== undefined) throw outputTooLarge(`${tooLong} characters`);
  // One text.
  if (json) return { json, values: 1 };
  if (turn) {
    const output = [...request.conversation, ...request.turns, turn.message] as Json;
    requireResumableSize(model, output);
    return { output, paused: true };
  }
  if (schema === undefined) return { output: answer.text };
  const text = structuredText(answer);
  async function repair(problems: Problem[]): Promise<string> {
    // Providers refuse turns of the model that are empty, and some refuse two of the user in a row.
    messages.push({ role: 'assistant', content: text.trim() === '' ? NO_ANSWER : text });
    const content = repairPrompt(problems.map(describeMismatch));
    messages.push({ role: 'user', content });
    repairRequest = cutAnswer(content).text;
    if (request.answers.last) request.answers.last.repairRequest = repairRequest;
    const repaired = await ask('none');
    if (repaired.unusable) throw repaired.unusable;
    return structuredText(repaired);
  }
  const read = (answer: string) => readOutput(deps.validator, schema, answer, isWrapped);
  return { output: await answerAgainstSchema(deps, request, text, { read, repair, signal }) };
}

/**
 * Returns the value of an answer, or of its repair. Throws MODEL_OUTPUT_INVALID if neither matches the schema, and
 * INTERNAL_ERROR if the answer could not be checked and was not stored.
 */
async function answerAgainstSchema(
  deps: ModelDeps,
  request: ModelRequest,
  text: string,
  {
    read,
    repair,
    signal,
  }: {
    read(text: string): Promise<Reading>;
    repair(problems: Problem[]): Promise<string>;
    signal: AbortSignal;
  },
): Promise<Json> {
  const { model = '' } = request.block;
  // Keep the paid answer, so that a refused repair does not make the next attempt ask, and pay, for it again.
  const isKept = request.answered !== undefined || request.keepAnswer(text);
  const readNow = () => read(text);
  let reading = await (isKept ? readNow() : checkInHand(readNow, model, signal));
  if (reading.problems.length === 0) return reading.value;
  // A repair sends back the answer, which may be far longer than the prompt.
  const maxChars = promptMaxChars(deps.registry.capabilities(model));
  const fits = isKept && charsOf(request.conversation) + text.length <= maxChars;
  if (fits) {
    const repaired = await repair(reading.asked);
    reading = await checkInHand(() => read(repaired), model, signal);
  }
  if (reading.problems.length === 0) return reading.value;
  const tried = fits ? 'even after one repair' : 'and is too long to be sent back for a repair';
  throw new ServiceError(
    'MODEL_OUTPUT_INVALID',
    `The answer of ${model} does not match the outputSchema, ${tried}: ${reading.problems.map(describeMismatch).join('; ')}.`,
    { model, problems: reading.problems },
  );
}

/** Returns the text of an answer; the reasoning where that is one JSON value and there is no text: its server has mistaken it. */
function structuredText({ text, reasoning = '' }: ChatAnswer): string {
  return text.trim() === '' && isJsonText(reasoning) ? reasoning : text;
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
