import { LRUCache } from 'lru-cache';
import { ProviderRefusal } from '../fetch-answer.ts';

const REMEMBERED_MS = 24 * 60 * 60 * 1_000;
const MODELS_MAX = 1_000;

/** Sends a request the `usual` way, or else the `other` way. `model` names what is remembered. */
type Fallback = (
  model: string,
  usual: () => Promise<Response>,
  other: () => Promise<Response>,
) => Promise<Response>;

/**
 * Creates a function that sends a request the other way where the provider refuses the usual one for a reason that `refuses`
 * knows. A model that answers then is asked the other way at once for a day.
 */
export function createFallback(refuses: (refusal: ProviderRefusal) => boolean): Fallback {
  const known = new LRUCache<string, true>({ max: MODELS_MAX, ttl: REMEMBERED_MS });
  return async (model, usual, other) => {
    if (known.has(model)) return other();
    try {
      return await usual();
    } catch (error) {
      // The SDK passes on what `fetchWhole` throws as the cause of its own error.
      const refusal = error instanceof Error ? error.cause : undefined;
      if (!(refusal instanceof ProviderRefusal) || !refuses(refusal)) throw error;
    }
    const response = await other();
    known.set(model, true);
    return response;
  };
}
