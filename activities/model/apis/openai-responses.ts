// OpenAI's Responses API.
import { explicitCacheKey, lastMarkable } from './chat-hints.ts';
import { createFallback } from './create-fallback.ts';
import type { ModelApi } from './model-api.ts';
import { createOpenAiClient } from './openai-client.ts';
import { mayReason, toResponsesRequest } from './responses-request.ts';

/** The words of a provider that gives no encrypted reasoning, for any reason. */
const NO_ENCRYPTED = /encrypted[ _]content.{0,80}?supported|["'`](include|reasoning\.encrypted_content)\b/is;

const orWithoutEncrypted = createFallback(
  ({ status, body }) => (status === 400 || status === 422) && NO_ENCRYPTED.test(body),
);

/**
 * Sends the request as one of the Responses API. A model that may reason is asked for encrypted reasoning: a resume can give
 * back no other. If the model refuses this, it is asked once more without.
 */
export const openAiResponses: ModelApi = {
  async send(provider, params, { timeoutMs, reserveAnswer, signal, cache }) {
    const cacheKey = cache && explicitCacheKey(params, provider, cache);
    const hints = cache && cacheKey ? { cacheKey, breakAt: lastMarkable(params, cache) } : {};
    const post = (isEncrypted: boolean) =>
      createOpenAiClient(provider, timeoutMs, reserveAnswer)
        .responses.create(toResponsesRequest(params, { ...hints, isEncrypted }), { signal })
        .asResponse();
    if (!mayReason(params.model)) return post(false);
    return orWithoutEncrypted(
      `${provider.baseUrl} ${params.model}`,
      () => post(true),
      () => post(false),
    );
  },
};
