/** A cache of a bounded size, in which owners share the room. */
type SharedCache<Value> = {
  get(key: string): Value | undefined;
  /** Keeps a value of this size for an owner; one that is larger than the cache is not kept. */
  set(owner: string, key: string, value: Value, size: number): void;
};

type Entry<Value> = { owner: string; value: Value; size: number };

/**
 * Creates a cache of values that together have at most `maxSize`. Where room is needed, the owner who holds the most gives up
 * what was used the longest time ago: whoever fills the cache drives out nothing of those who hold less.
 */
export function createSharedCache<Value>(maxSize: number): SharedCache<Value> {
  const entries = new Map<string, Entry<Value>>();
  /** The keys of each owner in the order of their last use, and what their values have together. */
  const held = new Map<string, { keys: Set<string>; size: number }>();
  let total = 0;

  function remove(key: string): void {
    const entry = entries.get(key);
    const own = entry && held.get(entry.owner);
    if (!own) return;
    entries.delete(key);
    own.keys.delete(key);
    own.size -= entry.size;
    total -= entry.size;
    if (own.keys.size === 0) held.delete(entry.owner);
  }

  function giveWay(): void {
    let most: { keys: Set<string>; size: number } | undefined;
    for (const own of held.values()) if (!most || own.size > most.size) most = own;
    const [oldest] = most?.keys ?? [];
    if (oldest !== undefined) remove(oldest);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      const own = held.get(entry.owner);
      own?.keys.delete(key);
      own?.keys.add(key);
      return entry.value;
    },
    set(owner, key, value, size) {
      remove(key);
      if (size > maxSize) return;
      const own = held.get(owner) ?? { keys: new Set(), size: 0 };
      held.set(owner, own);
      own.keys.add(key);
      own.size += size;
      entries.set(key, { owner, value, size });
      total += size;
      while (total > maxSize) giveWay();
    },
  };
}
