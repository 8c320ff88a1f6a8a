// Which key and prices a run's model calls use; a caller may bring a key of its own
// (docs/identity-and-access.md, Own model keys).
import { getModelKey } from '../db/tenants/model-keys.ts';
import type { ActivityDeps } from './activity-deps.ts';

/**
 * Gets the provider and registry for the requests to `model` that a call makes. With an own key (`own`), that key replaces
 * the service's and is sent only to the provider's configured address, and the requests cost nothing, since the provider
 * bills the caller. Throws CANCELLED, RUN_NOT_FOUND and MODEL_KEY_GONE.
 */
export async function getModelAccess(
  deps: ActivityDeps,
  callId: string,
  model: string,
  signal: AbortSignal,
): Promise<Pick<ActivityDeps, 'providers' | 'registry'> & { own: boolean }> {
  const prefix = model.slice(0, model.indexOf('/'));
  const { providers, registry } = deps;
  const baseUrl = Object.hasOwn(deps.providerUrls, prefix) ? deps.providerUrls[prefix] : undefined;
  if (!baseUrl) return { providers, registry, own: false };
  const { sent, key } = await getModelKey(deps.db, deps.encryption, callId, prefix);
  const apiKey = sent ? await deps.requestModelKeys.find(callId, prefix, signal) : key;
  if (!apiKey) return { providers, registry, own: false };
  return {
    providers: { [prefix]: { baseUrl, apiKey, own: true } },
    registry: { ...registry, costMicrocredits: () => 0 },
    own: true,
  };
}
