// Translates the answers of APIs of another shape into chat completions. Pure, so that a thread can do it.
import type { ApiKind } from '../../config/config.ts';
import { messageToCompletion } from './message-to-completion.ts';
import { responseToCompletion } from './response-to-completion.ts';

/** Translates a parsed answer of `api` into a chat completion. An answer of an unexpected shape stays as it is. */
export function toCompletion(answer: unknown, api: ApiKind = 'openai-chat'): unknown {
  // A request of openai-chat may have been sent to Responses.
  return api === 'anthropic' ? messageToCompletion(answer) : responseToCompletion(answer);
}
