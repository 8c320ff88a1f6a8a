// What comes before each request to a model: its credits are reserved, and the key to send is found; a caller may bring a key of
// its own (docs/identity-and-access.md, Own model keys).

import { beginModelCall, type Reservation } from '../db/credits/reservations.ts';
import { decryptModelKey, decryptSentKey } from '../db/tenants/model-keys.ts';
import { ServiceError } from '../flow/errors.ts';
import { howToConfigure, type Provider } from '../platform/config/config.ts';
import { providerOf } from '../platform/models/registry.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { retryInPlace } from './attempts/retry-in-place.ts';
import type { Attempt } from './attempts/run-attempt.ts';

/**
 * Begins a request to `model` and returns its provider; the rest as `beginModelCall` does. With an own key (`own`), that key
 * replaces the service's and is sent only to the provider's configured address, and nothing is reserved, since the provider
 * bills the caller. Throws MODEL_NOT_CONFIGURED, SecretUnreadable, and what `beginModelCall` throws.
 */
export async function beginRequest(
  deps: Pick<ActivityDeps, 'db' | 'balanceLimit' | 'encryption' | 'providers' | 'ownKeyProviders'>,
  attempt: Pick<Attempt, 'isLocal' | 'signal'>,
  model: string,
  reservation: Reservation,
): Promise<{ provider: Provider; again: boolean; reservedAt: string }> {
  const { callId, organizationId } = reservation;
  const prefix = providerOf(model);
  const takesKeys = Object.hasOwn(deps.ownKeyProviders, prefix) ? deps.ownKeyProviders[prefix] : undefined;
  // Where callers can bring no key either, nothing is reserved.
  if (!takesKeys) getProvider(deps.providers, model, { takesOwnKeys: false });
  const { sent, secret, again, reservedAt } = await retryInPlace(async () => {
    using _permit = await deps.balanceLimit.acquire(organizationId, { signal: attempt.signal });
    return await beginModelCall(deps.db, { ...reservation, provider: prefix });
  }, attempt);
  const own = takesKeys && findOwnKey();
  const provider = own
    ? { ...takesKeys, apiKey: own, own: true as const }
    : getProvider(deps.providers, model, { takesOwnKeys: true });
  return { provider, again: again ?? false, reservedAt };

  function findOwnKey(): string | undefined {
    if (secret === null) return undefined;
    return sent
      ? decryptSentKey(deps.encryption, { callId, provider: prefix, secret })
      : decryptModelKey(deps.encryption, { organizationId, provider: prefix, secret });
  }
}

/** Gets the service's own provider of `model`. Throws MODEL_NOT_CONFIGURED; `takesOwnKeys`: callers may bring keys for it. */
export function getProvider(
  providers: Record<string, Provider>,
  model: string,
  { takesOwnKeys }: { takesOwnKeys: boolean },
): Provider {
  const prefix = providerOf(model);
  const provider = Object.hasOwn(providers, prefix) ? providers[prefix] : undefined;
  if (provider) return provider;
  throw new ServiceError(
    'MODEL_NOT_CONFIGURED',
    `The provider "${prefix}" of ${model} has no key here: ${takesOwnKeys ? 'add one of your own, or ' : ''}have the operator of this service ${howToConfigure(prefix)}.`,
    { model },
  );
}
