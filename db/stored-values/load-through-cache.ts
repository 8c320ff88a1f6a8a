import type { LRUCache } from 'lru-cache';
import type { Stored } from '../../flow/value.ts';

/** Loads the values of one call's references from `cache`; `load` reads missing ones, which are then cached. */
export async function loadThroughCache(
  cache: LRUCache<string, Stored>,
  callId: string,
  refs: string[],
  load: (refs: string[]) => Promise<Map<string, Stored>>,
): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>();
  for (const ref of refs) {
    const cached = cache.get(`${callId}/${ref}`);
    if (cached) stored.set(ref, cached);
  }
  const absent = refs.filter((ref) => !stored.has(ref));
  for (const [ref, read] of absent.length > 0 ? await load(absent) : []) {
    stored.set(ref, read);
    cache.set(`${callId}/${ref}`, read);
  }
  return stored;
}
