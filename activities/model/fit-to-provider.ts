import type { OpenAI } from 'openai';
import { isObject } from '../../flow/json.ts';
import type { Provider } from '../../platform/config/config.ts';

type Params = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>;

type Sent = { tool_calls?: object[]; provider_state?: unknown };

/**
 * Returns a request as its provider takes it: without the fields that it refuses, in the request itself, its messages,
 * their tool calls and the parts of their state, and with the provider's own names of fields.
 */
export function fitToProvider(params: Params, { refusedFields = [], renamedFields = {} }: Provider): Params {
  const drop = <T extends object>(from: T): T => {
    if (!refusedFields.some((field) => field in from)) return from;
    return Object.fromEntries(Object.entries(from).filter(([field]) => !refusedFields.includes(field))) as T;
  };
  const dropInside = (state: object) =>
    Object.fromEntries(
      Object.entries(state).map(([field, value]) => [
        field,
        Array.isArray(value) ? value.map((each) => (isObject(each) ? drop(each) : each)) : value,
      ]),
    );
  const renamed = Object.entries(drop(params)).map(([field, value]) => [
    renamedFields[field] ?? field,
    value,
  ]);
  const messages = params.messages.map((message) => {
    const { tool_calls: calls, provider_state: state, ...rest } = drop(message) as Sent;
    return {
      ...rest,
      ...(calls && { tool_calls: calls.map(drop) }),
      ...(isObject(state) && { provider_state: dropInside(state) }),
    };
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
