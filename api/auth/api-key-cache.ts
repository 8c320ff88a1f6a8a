// Caches API keys for up to 10 s, or until the database reports a change of the key.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { logOutage } from '../../db/connection/database-errors.ts';
import type { Notifications } from '../../db/notifications.ts';
import { type FoundApiKey, findApiKey, touchApiKey } from '../../db/tenants/api-keys.ts';
import { log } from '../../platform/observability/log.ts';

const KEEP_MS = 10_000;
const USE_RECORDED_MS = 60_000;

export type ApiKeyCache = {
  /**
   * Finds the key by its id. A cached key that fails `matches` is looked up again, so that guesses take equally long
   * for known and unknown ids.
   */
  find(keyId: string, matches?: (key: FoundApiKey | undefined) => boolean): Promise<FoundApiKey | undefined>;
  /** Records in the background that a key was used, at most once a minute. */
  recordUse(key: FoundApiKey): void;
  close(): void;
};

/** Creates a cache. While notifications do not arrive, a revoked key works for up to 10 s. */
export function createApiKeyCache(db: Db, notifications: Notifications): ApiKeyCache {
  const cache = new LRUCache<string, FoundApiKey>({ max: 10_000, ttl: KEEP_MS });
  const used = new LRUCache<string, true>({ max: 10_000, ttl: USE_RECORDED_MS });
  const listener = notifications.listen(
    'weir_api_key',
    (keyId) => cache.delete(keyId),
    () => cache.clear(),
  );

  return {
    async find(keyId, matches = () => true) {
      const cached = cache.get(keyId);
      if (matches(cached) && cached) return cached;
      const key = await findApiKey(db, keyId);
      if (key) cache.set(keyId, key);
      return key;
    },
    recordUse({ id }) {
      if (used.has(id)) return;
      used.set(id, true);
      touchApiKey(db, id).catch((error: Error) => {
        if (!logOutage(error)) log.warn({ err: error }, 'The use of an API key could not be recorded.');
      });
    },
    close: listener.close,
  };
}
