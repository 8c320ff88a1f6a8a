// Bytes of large values that a process has in hand at a time, taken in turns between organizations.
import { setImmediate } from 'node:timers';

/** Values below this are not counted: thousands of them fit, and they are held for milliseconds. */
export const SMALL_BYTES = 64 * 1024;

export type ByteBudget = {
  /**
   * Waits in turn until `owner` may hold so many bytes; answers the function that gives them back, which may be called
   * again. Rejects with the signal's reason when that aborts first.
   */
  take(owner: string, bytes: number, signal?: AbortSignal): Promise<() => void>;
};

type Waiter = { bytes: number; grant(): void };

/**
 * A budget of `total` bytes, of which one owner holds at most `share`, so that others find room; a value larger than that
 * counts as that much. How many may wait is for the callers to bound.
 */
export function createByteBudget(total: number, share: number): ByteBudget {
  const held = new Map<string, number>();
  /** Who waits, by owner, in the order in which the owners have their turns. */
  const waiting = new Map<string, Waiter[]>();
  let used = 0;

  function serve(): void {
    for (let served = true; served; ) {
      served = false;
      for (const [owner, queue] of [...waiting]) {
        const [next] = queue;
        if (!next || (held.get(owner) ?? 0) + next.bytes > share) continue;
        // What does not fit yet is not overtaken by smaller ones without end.
        if (used + next.bytes > total) return;
        leave(owner, next);
        // The owner's next turn comes after the others'.
        if (waiting.has(owner)) {
          waiting.delete(owner);
          waiting.set(owner, queue);
        }
        add(owner, next.bytes);
        next.grant();
        served = true;
      }
    }
  }

  function leave(owner: string, waiter: Waiter): void {
    const queue = waiting.get(owner) ?? [];
    const place = queue.indexOf(waiter);
    if (place >= 0) queue.splice(place, 1);
    if (queue.length === 0) waiting.delete(owner);
  }

  function add(owner: string, bytes: number): void {
    used += bytes;
    const now = (held.get(owner) ?? 0) + bytes;
    if (now > 0) held.set(owner, now);
    else held.delete(owner);
  }

  return {
    async take(owner, asked, signal) {
      signal?.throwIfAborted();
      if (asked < SMALL_BYTES) return () => undefined;
      const bytes = Math.min(asked, share);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter = { bytes, grant: resolve };
      const queue = waiting.get(owner);
      if (queue) queue.push(waiter);
      else waiting.set(owner, [waiter]);
      const abort = () => {
        leave(owner, waiter);
        reject(signal?.reason);
        serve();
      };
      signal?.addEventListener('abort', abort, { once: true });
      serve();
      await promise.finally(() => signal?.removeEventListener('abort', abort));
      let returned = false;
      return () => {
        if (returned) return;
        returned = true;
        add(owner, -bytes);
        // Who is next does large work: what is ready meanwhile comes first.
        setImmediate(serve);
      };
    },
  };
}
