import { createModelClient } from '../../activities/model/model-client.ts';
import { modelError } from '../../activities/model/model-error.ts';
import { ServiceError } from '../../flow/errors.ts';
import { providerOf } from '../../platform/models/registry.ts';
import type { ApiDeps } from '../deps.ts';

/** `unknown`: the provider did not answer, or is out of order. `message` says why the key was not accepted. */
export type KeyCheck = { result: 'accepted' | 'rejected' | 'unknown'; message: string | null };

const CHECK_TIMEOUT_MS = 10_000;

/** Finds out whether a provider accepts a key, by a request for one token. */
export async function checkModelKey(
  { config, registry }: Pick<ApiDeps, 'config' | 'registry'>,
  prefix: string,
  apiKey: string,
): Promise<KeyCheck> {
  const baseUrl = config.providerUrls[prefix] ?? '';
  const provider = { baseUrl, apiKey, own: true as const };
  const named = registry.models().find((name) => providerOf(name) === prefix && !name.endsWith('/*'));
  // Providers look at the key before the model.
  const model = named ?? `${prefix}/any`;
  try {
    await createModelClient(provider, CHECK_TIMEOUT_MS, async () => undefined)
      .chat.completions.create({
        model: model.slice(prefix.length + 1),
        max_tokens: 1,
        messages: [{ role: 'user', content: 'Hi' }],
      })
      .asResponse();
    return { result: 'accepted', message: null };
  } catch (error) {
    const failure = modelError(error, { model, provider, hasSchema: false });
    const code = failure instanceof ServiceError ? failure.code : 'MODEL_UNAVAILABLE';
    if (code === 'BYOK_REJECTED') return { result: 'rejected', message: failure.message };
    const isUnknown = code === 'MODEL_UNAVAILABLE' || code === 'MODEL_NOT_CONFIGURED';
    return isUnknown
      ? { result: 'unknown', message: failure.message }
      : { result: 'accepted', message: null };
  }
}
