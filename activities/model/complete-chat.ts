// One chat completion over HTTP: sends the request and reads the answer.
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { LastAnswer } from '../../flow/model-call.ts';
import type { ToolCall, ToolDefinition } from '../../flow/tool-calls.ts';
import type { Provider } from '../../platform/config/config.ts';
import type { LargeJson } from '../../platform/large-values/large-json.ts';
import type { Completion } from '../../platform/large-values/tasks.ts';
import type { TokenUsage } from '../../platform/models/registry.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';
import { describeAnswer } from './describe-answer.ts';
import { bodyOf, createModelClient, type ReserveAnswer } from './model-client.ts';
import { modelError, providerMessage, statusError } from './model-error.ts';
import { type ChatSpan, inChatSpan } from './observe-model-call.ts';
import { readToolCalls } from './read-answer.ts';

const BAD_GATEWAY = 502;

/** The status that a gateway would have sent, had it not sent 200 before. */
const gatewayStatus = z.int().min(400).max(599).catch(BAD_GATEWAY);
const failure = z.object({ message: z.string().optional().catch(undefined), code: gatewayStatus });

const failedChoice = z.object({
  finish_reason: z.unknown().optional(),
  error: failure.optional().catch(undefined),
  message: z.record(z.string(), z.unknown()).catch({}),
});

const answerShape = z.object({ choices: z.tuple([failedChoice], z.unknown()) });

/** A choice that its gateway marks as failed, in the gateway's words. `isWritten`: the model had written something before. */
type FailedChoice = { message: string; code: number; isWritten: boolean };

/** Far more than any call uses; the sums for a block, and their cost, fit their database columns. */
const TOKENS_MAX = 1_000_000_000;

/** A count that is missing or invalid is 0; an impossibly large one is cut. */
const tokenCount = z
  .number()
  .nonnegative()
  .transform((tokens) => Math.min(Math.ceil(tokens), TOKENS_MAX))
  .catch(0);

const reported = z.object({
  usage: z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount }),
});

const choice = z.object({
  message: z.object({
    content: z.string().nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.unknown().optional(),
  }),
  finish_reason: z.string().nullish(),
});
const completion = z.object({ choices: z.tuple([choice], z.unknown()) });
/** An answer of this shape was written by a model, however malformed the rest is. */
const written = z.object({ choices: z.array(z.unknown()).nonempty() });
/** An error that some gateways send with status 200. */
const gatewayError = z.object({ error: z.object({ message: z.string(), code: gatewayStatus }) });

/**
 * A model's answer: text or tool calls. `json`: a long text as JSON, if the request allows it. `tooLong`: the number of
 * characters of a text that exceeds any output; the text is dropped.
 */
export type ChatAnswer = { text: string; toolCalls: ToolCall[]; json?: Buffer; tooLong?: number };

/** A request. `offered`: the tools that the model may call, all of them in `params`. */
export type Ask = {
  params: Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>;
  offered: ToolDefinition[];
  organizationId: string;
  /** Whether the text itself is needed, however long it is. */
  asText: boolean;
  /** Whether a text that was cut off at its token limit is an answer. */
  acceptsCut: boolean;
  /** The time that the request and its answer may take, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Waits for memory for a large answer. */
  reserveAnswer: ReserveAnswer;
  /** The usage for which credits were reserved. */
  expected: TokenUsage;
  /** Takes note of an answer of any shape, for the trace. */
  noteAnswer(answer: LastAnswer): void;
  /** Counts an answer's usage before its content is read. */
  count(usage: TokenUsage): void;
};

/**
 * Requests a chat completion and returns its text and its calls of offered tools; `model` is provider-prefixed. Throws
 * ModelUnavailable, ServiceError, or the signal's reason when aborted. A written answer is
 * billed, so an unusable answer is never ModelUnavailable.
 */
export function completeChat(
  largeJson: LargeJson,
  provider: Provider,
  model: string,
  ask: Ask,
): Promise<ChatAnswer> {
  return inChatSpan(model, provider, ask.params, (span) =>
    requestChat(largeJson, provider, model, ask, span),
  );
}

async function requestChat(
  largeJson: LargeJson,
  provider: Provider,
  model: string,
  ask: Ask,
  span: ChatSpan,
): Promise<ChatAnswer> {
  const { params, offered, organizationId, asText, timeoutMs, signal, reserveAnswer, count } = ask;
  const name = model.slice(model.indexOf('/') + 1);
  const hasSchema = params.response_format !== undefined || params.tools !== undefined;
  const sent = { model, provider, hasSchema };
  let read: Completion;
  try {
    const response = await createModelClient(provider, timeoutMs, reserveAnswer)
      .chat.completions.create({ ...params, model: name }, { signal })
      .asResponse();
    const body = bodyOf(response);
    read = body
      ? await largeJson.readCompletion(organizationId, body, { asText, signal })
      : { answer: undefined };
  } catch (error) {
    signal.throwIfAborted();
    const failure = modelError(error, sent);
    // The provider bills it, and its usage is in the part that is not read.
    if (failure instanceof ServiceError && failure.code === 'OUTPUT_TOO_LARGE') count(ask.expected);
    throw failure;
  }
  const invalid = (what: string) => new ServiceError('MODEL_OUTPUT_INVALID', what, { model });
  const incomplete = (what: string) => new ServiceError('MODEL_OUTPUT_INCOMPLETE', what, { model });

  const { answer, content, tooLong } = read;
  const usage = readUsage(answer);
  count(usage);
  ask.noteAnswer(describeAnswer(read, usage, provider));
  span.answered(answer, usage);
  const parsed = completion.safeParse(answer);
  const failed = findFailedChoice(answer);
  if (failed || !parsed.success) {
    const refused = failed ?? gatewayError.safeParse(answer).data?.error;
    const said = refused?.message ?? 'it is not a chat completion';
    const message = `The answer of ${model} can't be used: ${providerMessage(said, provider)}`;
    const isLong = content !== undefined || tooLong !== undefined;
    const isWritten = isLong || (failed ? failed.isWritten : written.safeParse(answer).success);
    const isPaid = isWritten || usage.promptTokens + usage.completionTokens > 0;
    if (isPaid) throw refused ? incomplete(message) : invalid(message);
    const rejected = refused && statusError({ ...sent, status: refused.code, text: said, said });
    if (rejected instanceof ServiceError) throw rejected;
    throw new ModelUnavailable(message, { status: refused?.code, isUnreadable: refused === undefined });
  }
  const { message, finish_reason: finishReason } = parsed.data.choices[0];
  if (message.refusal || finishReason === 'content_filter') {
    const said = providerMessage(message.refusal || 'its content filter stopped the answer', provider);
    throw new ServiceError('MODEL_REFUSED', `${model} refused to answer: ${said}`, { model });
  }
  const hasText = content !== undefined || tooLong !== undefined || Boolean(message.content);
  if (finishReason === 'length' && !(ask.acceptsCut && hasText))
    throw incomplete(
      `The answer of ${model} was cut off at its token limit. Raise processor_config.max_tokens, ask for less, or have text accepted as it is with on_length: accept.`,
    );
  if (tooLong !== undefined) return { text: '', toolCalls: [], tooLong };
  if (content) return { text: '', toolCalls: [], json: Buffer.from(content.buffer) };
  const text = message.content ?? '';
  if (offered.length > 0) return { text, toolCalls: readToolCalls(model, message.tool_calls, offered) };
  if (text === '' && Array.isArray(message.tool_calls) && message.tool_calls.length > 0)
    throw invalid(`${model} asked for functions although it was offered none, and answered nothing else.`);
  return { text, toolCalls: [] };
}

/** Reads the usage that an answer of any shape reports; 0 where it reports none. */
function readUsage(answer: unknown): TokenUsage {
  const usage = reported.safeParse(answer).data?.usage;
  return { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: usage?.completion_tokens ?? 0 };
}

/** Finds the failure of a model in an answer that its gateway had begun with status 200, as OpenRouter reports it. */
function findFailedChoice(answer: unknown): FailedChoice | undefined {
  const [found] = answerShape.safeParse(answer).data?.choices ?? [];
  if (!found || found.finish_reason === 'content_filter') return undefined;
  if (found.finish_reason !== 'error' && !found.error) return undefined;
  const { role: _, ...written } = found.message;
  return {
    message: found.error?.message || 'its provider failed while it answered',
    code: found.error?.code ?? BAD_GATEWAY,
    isWritten: Object.values(written).some((value) => !isEmpty(value)),
  };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
