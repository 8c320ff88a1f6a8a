import type { OpenAI } from 'openai';
import type { Provider } from '../../platform/config/config.ts';

type Params = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>;

/**
 * Returns a request as its provider takes it: without the fields that it refuses, in the request itself, its messages and
 * their tool calls, and with the provider's own names of fields.
 */
export function fitToProvider(params: Params, { refusedFields = [], renamedFields = {} }: Provider): Params {
  const drop = <T extends object>(from: T): T => {
    if (!refusedFields.some((field) => field in from)) return from;
    return Object.fromEntries(Object.entries(from).filter(([field]) => !refusedFields.includes(field))) as T;
  };
  const renamed = Object.entries(drop(params)).map(([field, value]) => [
    renamedFields[field] ?? field,
    value,
  ]);
  const messages = params.messages.map((message) => {
    const { tool_calls: calls, ...rest } = drop(message) as { tool_calls?: object[] };
    return { ...rest, ...(calls && { tool_calls: calls.map(drop) }) };
  });
  return { ...Object.fromEntries(renamed), messages };
}

/** Returns the limit of an answer's tokens in the field that the provider takes. */
export function answerLimit(tokens: number | undefined, { refusedFields = [] }: Provider) {
  if (tokens === undefined) return {};
  return refusedFields.includes('max_completion_tokens')
    ? { max_tokens: tokens }
    : { max_completion_tokens: tokens };
}
