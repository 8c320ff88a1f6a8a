// Anthropic's Messages API.
import Anthropic from '@anthropic-ai/sdk';
import type { Provider } from '../../../platform/config/config.ts';
import { toAnthropicRequest } from './anthropic-request.ts';
import { connectTo } from './connect-to.ts';
import type { ModelApi, Sending } from './model-api.ts';
import { SDK_TIMEOUT_MS } from './openai-client.ts';

/** The newer version that the SDK sends, 2026-10-21, refuses `temperature` and `top_p` for models that still take them. */
const API_VERSION = '2023-06-01';

/** Sends the request as one of the Messages API. */
export const anthropic: ModelApi = {
  async send(provider, params, sending) {
    const body = toAnthropicRequest(params, sending.cache);
    // Not `messages.create`, which writes warnings to the console and refuses long answers without a stream.
    return await createClient(provider, sending)
      .post('/v1/messages', { body, signal: sending.signal, timeout: SDK_TIMEOUT_MS })
      .asResponse();
  },
};

/** Creates the client of `provider`, whose base URL may end with `/v1`. */
function createClient(provider: Provider, { timeoutMs, reserveAnswer }: Sending): Anthropic {
  const inItsHeader = { ...provider, keyHeader: provider.keyHeader ?? 'x-api-key' };
  const { headers, baseURL, fetch } = connectTo(inItsHeader, timeoutMs, reserveAnswer);
  const client = new Anthropic({
    baseURL: baseURL.replace(/\/v1$/, ''),
    // Any key, so that the SDK looks for none itself; the headers have the right one.
    apiKey: 'none',
    // Otherwise read from ANTHROPIC_… variables.
    authToken: null,
    webhookKey: null,
    openTelemetry: false,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logLevel: 'off',
    fetch,
  });
  // Set afterwards: the constructor adds the headers of ANTHROPIC_CUSTOM_HEADERS, which would reach every provider.
  const options = (client as unknown as { _options: { defaultHeaders: object } })._options;
  options.defaultHeaders = { 'x-api-key': null, 'anthropic-version': API_VERSION, ...headers };
  return client;
}
