import { findApi } from '../../activities/model/apis/find-api.ts';
import { answerLimit } from '../../activities/model/fit-to-provider.ts';
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
  const known = config.ownKeyProviders[prefix];
  if (!known) throw new Error(`There is no provider ${prefix}.`);
  const provider = { ...known, apiKey, own: true as const };
  const named = registry.models().find((name) => providerOf(name) === prefix && !name.endsWith('/*'));
  // Providers look at the key before the model.
  const model = named ?? `${prefix}/any`;
  try {
    const api = await findApi(provider);
    const params = {
      model: model.slice(prefix.length + 1),
      ...answerLimit(1, provider),
      messages: [{ role: 'user' as const, content: 'Hi' }],
    };
    const { signal } = new AbortController();
    await api.send(provider, params, {
      timeoutMs: CHECK_TIMEOUT_MS,
      reserveAnswer: async () => undefined,
      signal,
    });
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
