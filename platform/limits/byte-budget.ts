// Bounds the bytes of large values that a process holds at a time; organizations take turns at them.
import { setImmediate } from 'node:timers';

/** Smaller values are not counted: thousands of them fit, and they are held for milliseconds. */
export const SMALL_BYTES = 64 * 1024;

export type ByteBudget = {
  /**
   * Waits until it is the turn of `owner` to hold so many bytes; returns the function that gives them back, which may be
   * called twice. Rejects with the signal's reason when that aborts first.
   */
  take(owner: string, bytes: number, signal?: AbortSignal): Promise<() => void>;
  /** Takes the bytes if that is possible at once, else returns undefined: for callers who would hold others up. */
  takeNow(owner: string, bytes: number): (() => void) | undefined;
  /** How many bytes are held, by all owners. */
  countHeld(): number;
  /** How many values wait for their turn, of all owners. */
  countWaiting(): number;
  /** Whether a value waits for which its owner's share has room: all owners together hold too much. */
  isExhausted(): boolean;
};

type Waiter = { bytes: number; isGranted: boolean; grant(): void };

/**
 * Creates a budget of `total` bytes, of which one owner holds at most `share`, so that others find room; a larger value counts
 * as `share`. `reserve` more bytes are for owners that hold none, so that they need not wait for others who hold theirs for long.
 * Callers bound how many may wait.
 */
export function createByteBudget(total: number, share: number, reserve = 0): ByteBudget {
  const held = new Map<string, number>();
  /** Waiting values by owner, in the order of the owners' turns. */
  const waiting = new Map<string, Waiter[]>();
  let used = 0;

  const fitsShare = (owner: string, { bytes }: Waiter) => (held.get(owner) ?? 0) + bytes <= share;

  function serve(): void {
    for (let served = true; served; ) {
      served = false;
      // A value that does not fit yet is not overtaken by smaller ones for ever: what they leave of the total is its own.
      let taken = used;
      for (const [owner, queue] of [...waiting]) {
        const [next] = queue;
        if (!next || !fitsShare(owner, next)) continue;
        const mayUseReserve = !held.has(owner);
        if (taken + next.bytes > total + (mayUseReserve ? reserve : 0)) {
          if (mayUseReserve) return;
          taken = Math.max(used, total);
          continue;
        }
        leave(owner, next);
        // The owner's next turn comes after the others'.
        if (waiting.has(owner)) {
          waiting.delete(owner);
          waiting.set(owner, queue);
        }
        add(owner, next.bytes);
        taken += next.bytes;
        next.isGranted = true;
        next.grant();
        served = true;
      }
    }
  }

  /** Adds a value to its owner's queue and serves all that can be served. */
  function queueUp(owner: string, asked: number, grant: () => void = () => undefined): Waiter {
    const waiter = { bytes: Math.min(asked, share), isGranted: false, grant };
    const queue = waiting.get(owner);
    if (queue) queue.push(waiter);
    else waiting.set(owner, [waiter]);
    serve();
    return waiter;
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

  /** Makes the function that gives so many bytes back, once. */
  function createReturn(owner: string, bytes: number): () => void {
    let returned = false;
    return () => {
      if (returned) return;
      returned = true;
      add(owner, -bytes);
      // The next one does large work: events that are ready come first.
      setImmediate(serve);
    };
  }

  return {
    async take(owner, asked, signal) {
      signal?.throwIfAborted();
      if (asked < SMALL_BYTES) return () => undefined;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter = queueUp(owner, asked, resolve);
      const abort = () => {
        leave(owner, waiter);
        reject(signal?.reason);
        serve();
      };
      signal?.addEventListener('abort', abort, { once: true });
      await promise.finally(() => signal?.removeEventListener('abort', abort));
      return createReturn(owner, waiter.bytes);
    },
    takeNow(owner, asked) {
      if (asked < SMALL_BYTES) return () => undefined;
      const waiter = queueUp(owner, asked);
      if (waiter.isGranted) return createReturn(owner, waiter.bytes);
      leave(owner, waiter);
      return undefined;
    },
    countHeld: () => used,
    countWaiting: () => [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0),
    isExhausted: () => [...waiting].some(([owner, [next]]) => next !== undefined && fitsShare(owner, next)),
  };
}
