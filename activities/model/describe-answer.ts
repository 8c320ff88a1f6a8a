import { JSON_DEPTH_MAX, LAST_ANSWER_MAX_CHARS } from '../../flow/limits.ts';
import type { LastAnswer } from '../../flow/model-call.ts';
import type { Provider } from '../../platform/config/config.ts';
import type { Completion } from '../../platform/large-values/tasks.ts';
import { type TokenUsage, toAnswerTokens } from '../../platform/models/token-usage.ts';
import { hideKey } from './hide-secrets.ts';
import { isDeeper } from './is-deeper.ts';

const REASON_MAX_CHARS = 100;

type Choice = {
  message?: { content?: unknown; refusal?: unknown; tool_calls?: unknown };
  finish_reason?: unknown;
};

/** Describes an answer of any shape for the trace of a block that fails. */
export function describeAnswer(read: Completion, usage: TokenUsage, provider: Provider): LastAnswer {
  const choice = (read.answer as { choices?: (Choice | null)[] } | null | undefined)?.choices?.[0];
  const reason = choice?.finish_reason;
  const finishReason = typeof reason === 'string' ? reason.slice(0, REASON_MAX_CHARS) : null;
  const { text, isCut } = cutAnswer(textOf(read, choice?.message, finishReason, provider));
  return {
    text,
    isCut: isCut || read.tooLong !== undefined,
    finishReason,
    usage: toAnswerTokens(usage),
    repairRequest: null,
    ...(read.said?.reasoning && { reasoning: cutAnswer(read.said.reasoning).text }),
  };
}

/** Cuts a text to what the trace keeps. */
export function cutAnswer(text: string): Pick<LastAnswer, 'text' | 'isCut'> {
  const isCut = text.length > LAST_ANSWER_MAX_CHARS;
  // A copy: a slice would keep the whole text in memory.
  return { text: isCut ? Buffer.from(text.slice(0, LAST_ANSWER_MAX_CHARS)).toString() : text, isCut };
}

function textOf(
  { answer, content, said }: Completion,
  message: Choice['message'],
  finishReason: string | null,
  provider: Provider,
): string {
  // A long text that the model has finished becomes the output.
  if (content) return finishReason === 'stop' ? '' : JSON.parse(Buffer.from(content).toString());
  const { content: written, tool_calls: calls } = message ?? {};
  const isText = !said?.refusal && !(Array.isArray(calls) && calls.length > 0);
  if (isText && said?.text !== undefined && (said.text !== '' || typeof written === 'string'))
    return said.text;
  if (message) return toJson(message);
  // An error of the provider may quote its key.
  return hideKey(toJson(answer), provider);
}

/** Writes any value as JSON. A value with too many levels becomes the empty text. */
export function toJson(value: unknown): string {
  return isDeeper(value, JSON_DEPTH_MAX) ? '' : (JSON.stringify(value) ?? '');
}
