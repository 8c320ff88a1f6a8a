// Looks API keys up; a key is kept for at most 10 s and dropped at once when the database says it changed.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { listen } from '../../db/listen.ts';
import { type FoundApiKey, findApiKey, touchApiKey } from '../../db/tenants/api-keys.ts';

const KEEP_MS = 10_000;
const USE_NOTED_MS = 60_000;

export type ApiKeyCache = {
  /**
   * The key with that id. One that is kept is looked up all the same where it is not what `matches` wants, so that
   * whoever guesses waits as long for a known id as for an unknown one.
   */
  find(keyId: string, matches?: (key: FoundApiKey | undefined) => boolean): Promise<FoundApiKey | undefined>;
  /** Notes that a key was used, at most once a minute and without anybody waiting for it. */
  noteUse(key: FoundApiKey): void;
  close(): Promise<void>;
};

/** Opens one listening connection of its own; while that is down the 10 s bound revocation alone. */
export function createApiKeyCache(db: Db, databaseUrl: string): ApiKeyCache {
  const cache = new LRUCache<string, FoundApiKey>({ max: 10_000, ttl: KEEP_MS });
  const used = new LRUCache<string, true>({ max: 10_000, ttl: USE_NOTED_MS });
  const listener = listen(
    databaseUrl,
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
    noteUse({ id }) {
      if (used.has(id)) return;
      used.set(id, true);
      touchApiKey(db, id).catch((error: Error) =>
        console.error(`The use of an API key is not noted: ${error.message}`),
      );
    },
    close: listener.close,
  };
}
