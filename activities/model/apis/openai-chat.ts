// OpenAI's Chat Completions, as OpenAI and compatible servers have it.
import type { OpenAI } from 'openai';
import type { AssistantMessage } from '../../../flow/tool-calls.ts';
import { withoutState } from '../../../platform/models/assistant-state.ts';
import { withHints } from './chat-hints.ts';
import { createFallback } from './create-fallback.ts';
import type { ModelApi } from './model-api.ts';
import { createOpenAiClient } from './openai-client.ts';
import { openAiResponses } from './openai-responses.ts';

/** The words of OpenAI, whose models since GPT-5.4 reason and take tools only in Responses. */
const USE_RESPONSES = /\buse \/v1\/responses\b/i;

const orThroughResponses = createFallback(({ body }) => USE_RESPONSES.test(body));

/**
 * Sends the request, with what its server needs besides, and the content of its messages as the provider wrote it. A request with
 * tools that is refused because it belongs into the Responses API is sent there.
 */
export const openAiChat: ModelApi = {
  async send(provider, params, sending) {
    const { timeoutMs, reserveAnswer, signal, cache } = sending;
    const post = () =>
      createOpenAiClient(provider, timeoutMs, reserveAnswer)
        .chat.completions.create(
          withHints({ ...params, messages: params.messages.map(toOwnContent) }, provider, cache),
          { signal },
        )
        .asResponse();
    if (!params.tools) return post();
    return orThroughResponses(`${provider.baseUrl} ${params.model} ${params.reasoning_effort}`, post, () =>
      openAiResponses.send(provider, params, sending),
    );
  },
};

type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** Puts content that came in parts back in place of its text, and drops all state of a message from another API. */
function toOwnContent(message: Message): Message {
  if (message.role !== 'assistant' || !('provider_state' in message)) return message;
  const { provider_state: state, ...sent } = message as AssistantMessage;
  if (state?.api !== 'openai-chat') return withoutState(sent) as Message;
  return { ...sent, ...(Array.isArray(state.content) && { content: state.content }) } as Message;
}
