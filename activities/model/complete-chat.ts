// One chat completion over HTTP: sends the request and reads the answer.
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { LastAnswer } from '../../flow/model-call.ts';
import type { ToolDefinition } from '../../flow/tool-calls.ts';
import type { Provider } from '../../platform/config/config.ts';
import type { LargeJson } from '../../platform/large-values/large-json.ts';
import type { Completion } from '../../platform/large-values/tasks.ts';
import { HARMONY_MARK, readContent } from '../../platform/models/answers/read-content.ts';
import { NO_TOKENS, type TokenUsage } from '../../platform/models/token-usage.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';
import { findApi } from './apis/find-api.ts';
import type { Sending } from './apis/model-api.ts';
import { describeAnswer } from './describe-answer.ts';
import { estimateAnswer } from './estimate-usage.ts';
import { bodyOf } from './fetch-answer.ts';
import { findCallsInText, isMeantAsCall } from './find-calls-in-text.ts';
import { findEnd } from './find-end.ts';
import { findReportedError } from './find-reported-error.ts';
import { fitToProvider } from './fit-to-provider.ts';
import { providerMessage } from './hide-secrets.ts';
import { modelError, refusalError } from './model-error.ts';
import { type ChatSpan, inChatSpan } from './observe-model-call.ts';
import { findFormatted, hasCalls, readToolTurn, type ToolTurn } from './read-tool-calls.ts';
import { readUsage } from './read-usage.ts';

const choice = z.object({
  message: z.looseObject({ tool_calls: z.unknown().optional() }).nullish(),
  finish_reason: z.string().nullish(),
  native_finish_reason: z.unknown().optional(),
});
const completion = z.object({ choices: z.tuple([choice], z.unknown()) });
/** An answer of this shape was written by a model, however malformed the rest is. `text`: as servers of old have it. */
const something = z.union([z.object({ message: z.looseObject({}) }), z.object({ text: z.string().min(1) })]);
const written = z.object({ choices: z.tuple([something], z.unknown()) });

const NOTHING_SAID = { text: undefined, reasoning: '', refusal: '' };

/**
 * A model's answer: text or a turn with tool calls. `reasoning`: its start, apart from the text. `json`: a long text as JSON, if
 * the request allows it. `tooLong`: the number of characters of a text that exceeds any output; the text is dropped. `unusable`:
 * the failure of an answer that cannot be used, where asking once more may help.
 */
export type ChatAnswer = {
  text: string;
  reasoning?: string;
  turn?: ToolTurn | undefined;
  json?: Buffer;
  tooLong?: number;
  unusable?: ServiceError;
};

/** A request. `offered`: the tools that the model may call, all of them in `params`. */
export type Ask = Sending & {
  params: Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>;
  offered: ToolDefinition[];
  organizationId: string;
  /** Whether the text itself is needed, however long it is. */
  asText: boolean;
  /** Whether a text that was cut off at its token limit is an answer. */
  acceptsCut: boolean;
  /** Whether an empty text is an answer: after the results of tools there may be nothing to say. */
  acceptsEmpty: boolean;
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
  const { params, offered, organizationId, asText, signal, count } = ask;
  const name = model.slice(model.indexOf('/') + 1);
  const hasSchema = params.response_format !== undefined || params.tools !== undefined;
  const sent = { model, provider, hasSchema };
  let read: Completion;
  let body: Buffer | undefined;
  try {
    const api = await findApi(provider);
    const request = { ...fitToProvider({ ...params, stream: false }, provider), model: name };
    const response = await api.send(provider, request, ask);
    body = bodyOf(response);
    read = body
      ? await largeJson.readCompletion(organizationId, body, { asText, signal, api: provider.api })
      : { answer: undefined };
  } catch (error) {
    signal.throwIfAborted();
    const failure = modelError(error, { ...sent, body });
    // The provider bills it, and its usage is in the part that is not read.
    if (failure instanceof ServiceError && failure.code === 'OUTPUT_TOO_LARGE')
      count({ ...ask.expected, isEstimated: true });
    throw failure;
  }
  const invalid = (what: string) => new ServiceError('MODEL_OUTPUT_INVALID', what, { model });
  const incomplete = (what: string) => new ServiceError('MODEL_OUTPUT_INCOMPLETE', what, { model });

  const { answer, content, tooLong, said = NOTHING_SAID } = read;
  const reported = findReportedError(answer);
  const isLong = content !== undefined || tooLong !== undefined;
  const isWritten = isLong || (reported ? reported.isWritten : written.safeParse(answer).success);
  const expect = () => ({ ...ask.expected, completionTokens: estimateAnswer(read) });
  // A provider bills what it has written, whether it says how much or not.
  const unknown = () => (isWritten ? { ...expect(), isEstimated: true } : NO_TOKENS);
  const usage: TokenUsage = readUsage(answer, expect) ?? unknown();
  count(usage);
  ask.noteAnswer(describeAnswer(read, usage, provider));
  span.answered(answer, usage);
  const parsed = completion.safeParse(answer);
  const [first] = parsed.data?.choices ?? [];
  const end = findEnd(first?.finish_reason, first?.native_finish_reason);
  // Azure leaves out a message that its filter has stopped.
  const isRead = first && (isLong || said.text !== undefined || end === 'filtered' || end === 'cut');
  if (reported || !isRead) {
    const words = reported ? providerMessage(reported.words.said, provider) : 'it is not a chat completion';
    const message = `The answer of ${model} can't be used: ${words}`;
    const isPaid = isWritten || usage.promptTokens + usage.completionTokens > 0;
    const failure = reported
      ? refusalError({ ...sent, ...reported })
      : new ModelUnavailable(message, { isUnreadable: true });
    if (!isPaid) throw failure;
    const unusable = reported ? incomplete(message) : invalid(message);
    if (isWritten || !(failure instanceof ModelUnavailable)) throw unusable;
    return { text: '', unusable };
  }
  const { finish_reason: finishReason } = first;
  const message = first.message ?? {};
  if (said.refusal || end === 'filtered') {
    const words = providerMessage(said.refusal || 'its content filter stopped the answer', provider);
    throw new ServiceError('MODEL_REFUSED', `${model} refused to answer: ${words}`, { model });
  }
  const text = said.text ?? '';
  const isEmpty = !isLong && text.trim() === '';
  if (end === 'cut' && (isEmpty || !ask.acceptsCut)) {
    const what =
      asText || ask.acceptsCut
        ? ' or ask for less'
        : ', ask for less, or have text accepted as it is with on_length: accept';
    throw incomplete(
      `The answer of ${model} was cut off at its token limit. Raise processor_config.max_tokens${what}.`,
    );
  }
  if (end === 'malformed') return { text: '', unusable: invalid(describeMalformed(model, offered)) };
  const sentTools = params.tools?.map((tool) => (tool.type === 'function' ? tool.function.name : ''));
  const formatted = isEmpty && params.response_format ? findFormatted(message, sentTools) : undefined;
  if (formatted !== undefined) return { text: formatted };
  const turn = offered.length > 0 ? readTurn(model, message, text, offered, read.inexact) : undefined;
  if (turn) return { text, turn };
  const names = offered.map((tool) => tool.function.name);
  const isCall = isMeantAsCall(text, names) && (offered.length > 0 || text.startsWith(HARMONY_MARK));
  // Servers that look for calls in the text alone leave those within the reasoning there.
  const isThought = isEmpty && offered.length > 0 && isMeantAsCall(readContent(message).reasoning, names);
  if (isCall || isThought) return { text: '', unusable: invalid(describeMalformed(model, offered)) };
  if (isEmpty && offered.length === 0 && hasCalls(message))
    return {
      text: '',
      unusable: invalid(
        `${model} asked for functions although it was offered none, and answered nothing else.`,
      ),
    };
  // What was said before calls that are missing, or that nobody offered, is half an answer.
  if (/tool|function/i.test(finishReason ?? ''))
    return {
      text: '',
      unusable: incomplete(`${model} ended its answer to call a tool, but called none that it was offered.`),
    };
  if (tooLong !== undefined) return { text: '', tooLong };
  if (content) return { text: '', json: Buffer.from(content.buffer) };
  if (isEmpty && !ask.acceptsEmpty)
    throw incomplete(
      `${model} ended its answer before it said anything${said.reasoning ? ', after its reasoning' : ''}. Retry the run, or change the prompt.`,
    );
  return { text, reasoning: said.reasoning };
}

/** Reads the turn of an answer with tool calls, where its server has found them, or else of those in its text. */
function readTurn(
  model: string,
  message: { [field: string]: unknown },
  text: string,
  offered: ToolDefinition[],
  inexact: string | undefined,
): ToolTurn | undefined {
  const names = offered.map((tool) => tool.function.name);
  const found = hasCalls(message) ? undefined : findCallsInText(text, names);
  if (!found) return readToolTurn(model, message, text, offered, inexact);
  const { calls: tool_calls, said } = found;
  return readToolTurn(model, { ...message, content: said || null, tool_calls }, said, offered, inexact);
}

function describeMalformed(model: string, offered: ToolDefinition[]): string {
  return offered.length > 0
    ? `${model} wrote a tool call that its provider could not read, twice.`
    : `${model} wrote an answer that its provider could not read, twice.`;
}
