import type { LRUCache } from 'lru-cache';
import type { Stored } from '../../flow/value.ts';

/** What references of a run stand for, of which `kept` has some already; `load` reads the others, which are kept then. */
export async function loadThroughCache(
  kept: LRUCache<string, Stored>,
  executionId: string,
  refs: string[],
  load: (refs: string[]) => Promise<Map<string, Stored>>,
): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>();
  for (const ref of refs) {
    const known = kept.get(`${executionId}/${ref}`);
    if (known) stored.set(ref, known);
  }
  const absent = refs.filter((ref) => !stored.has(ref));
  for (const [ref, read] of absent.length > 0 ? await load(absent) : []) {
    stored.set(ref, read);
    kept.set(`${executionId}/${ref}`, read);
  }
  return stored;
}
