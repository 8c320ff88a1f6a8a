import { OpenAI } from 'openai';
import type { Provider } from '../../../platform/config/config.ts';
import type { ReserveAnswer } from '../fetch-answer.ts';
import { connectTo } from './connect-to.ts';

/** Practically none: the SDK's own timeout would also count the wait for memory. */
export const SDK_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

/** Creates the client of `provider`. That takes some 15 µs, so none is kept. */
export function createOpenAiClient(
  provider: Provider,
  timeoutMs: number,
  reserveAnswer: ReserveAnswer,
): OpenAI {
  const { headers, ...connection } = connectTo(provider, timeoutMs, reserveAnswer);
  return new OpenAI({
    ...connection,
    apiKey: provider.apiKey,
    // Otherwise read from OPENAI_… variables and sent to every provider.
    organization: null,
    project: null,
    adminAPIKey: null,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    defaultHeaders: headers,
    logLevel: 'off',
  });
}
