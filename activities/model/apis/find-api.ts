import type { ApiKind, Provider } from '../../../platform/config/config.ts';
import type { ModelApi } from './model-api.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';

/** Loads the SDK of an API when that is first called. */
const APIS: { [api in ApiKind]: () => Promise<ModelApi> } = {
  'openai-chat': async () => openAiChat,
  'openai-responses': async () => openAiResponses,
  anthropic: async () => (await import('./anthropic.ts')).anthropic,
};

/** Returns the API that a provider's servers speak. */
export function findApi({ api }: Pick<Provider, 'api'>): Promise<ModelApi> {
  return APIS[api]();
}
