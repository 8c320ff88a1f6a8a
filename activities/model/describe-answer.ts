import { JSON_DEPTH_MAX, LAST_ANSWER_MAX_CHARS } from '../../flow/limits.ts';
import type { LastAnswer } from '../../flow/model-call.ts';
import type { Provider } from '../../platform/config/config.ts';
import type { Completion } from '../../platform/large-values/tasks.ts';
import type { TokenUsage } from '../../platform/models/registry.ts';
import { hideKey } from './model-error.ts';
import { isDeeper } from './read-answer.ts';

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
  return { text, isCut: isCut || read.tooLong !== undefined, finishReason, usage, repairRequest: null };
}

/** Cuts a text to what the trace keeps. */
export function cutAnswer(text: string): Pick<LastAnswer, 'text' | 'isCut'> {
  const isCut = text.length > LAST_ANSWER_MAX_CHARS;
  // A copy: a slice would keep the whole text in memory.
  return { text: isCut ? Buffer.from(text.slice(0, LAST_ANSWER_MAX_CHARS)).toString() : text, isCut };
}

function textOf(
  { answer, content }: Completion,
  message: Choice['message'],
  finishReason: string | null,
  provider: Provider,
): string {
  // A long text that the model has finished becomes the output.
  if (content) return finishReason === 'stop' ? '' : JSON.parse(Buffer.from(content).toString());
  const { content: text, refusal, tool_calls: calls } = message ?? {};
  const isText = !refusal && !(Array.isArray(calls) && calls.length > 0);
  if (isText && typeof text === 'string') return text;
  if (message) return toJson(message);
  // An error of the provider may quote its key.
  return hideKey(toJson(answer), provider);
}

function toJson(value: unknown): string {
  return isDeeper(value, JSON_DEPTH_MAX) ? '' : (JSON.stringify(value) ?? '');
}
