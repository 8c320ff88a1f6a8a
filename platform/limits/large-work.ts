// Turns at large work: parsing or writing a large value blocks the process while it lasts.
import type { WaitOptions } from './line.ts';
import type { Presence } from './presence.ts';
import { createTurns, type EndTurn } from './turns.ts';

/** Work on a smaller value is over before others notice, unless it is JSON of very many values. */
export const LARGE_BYTES = 1024 * 1024;
/** So many values of JSON take as long as LARGE_BYTES of text, and so do a fifth as many different keys. */
export const LARGE_VALUES = 20_000;
const VALUES_PER_KEY = 5;
/** Work that waits for something, such as a database that hangs, keeps its turn no longer. */
const HELD_MAX_MS = 1_000;
/** While others are present, a rest is three times as long as the work took, but at most this much longer than the work. */
const REST_MORE_MAX_MS = 250;

export type LargeWork = {
  /** Waits for a turn of `owner` at a value of so many bytes, where that is large. Rejects with the signal's reason. */
  take(owner: string, bytes: number, options?: WaitOptions & { signal?: AbortSignal }): Promise<EndTurn>;
};

/** Large work, also of those who may not wait. */
export type LargeWorkNow = LargeWork & {
  /** Takes the same turn; undefined when it would have to wait. */
  takeNow(owner: string, bytes: number): EndTurn | undefined;
};

/** Returns the bytes of text that take as long as JSON of so many bytes, values and different keys. */
export function workOf(bytes: number, { values, keys }: { values: number; keys: number }): number {
  return Math.max(bytes, Math.floor(((values + keys * VALUES_PER_KEY) * LARGE_BYTES) / LARGE_VALUES));
}

/** Returns how long to rest after `owner`'s work on a large value that took `ms`. */
export function restAfter(ms: number, owner: string, presence: Presence): number {
  return presence.areOthers(owner) ? ms + Math.min(2 * ms, REST_MORE_MAX_MS) : ms;
}

/**
 * One piece of large work is done at a time, in turn between owners. After each, none begins for as long as it took, and while
 * others are present for up to three times as long: small work that is under way meets one piece at most.
 */
export function createLargeWork(presence: Presence): LargeWorkNow {
  const turns = createTurns({ places: 1, reserve: 0 });
  function begin(owner: string, endTurn: EndTurn): EndTurn {
    const began = performance.now();
    let ended = false;
    const rest = () => {
      if (ended) return;
      ended = true;
      clearTimeout(late);
      setTimeout(endTurn, restAfter(performance.now() - began, owner, presence)).unref();
    };
    const late = setTimeout(rest, HELD_MAX_MS).unref();
    return rest;
  }
  return {
    async take(owner, bytes, { signal, ...options } = {}) {
      if (bytes < LARGE_BYTES) return () => undefined;
      return begin(owner, await turns.wait(owner, signal, options));
    },
    takeNow(owner, bytes) {
      if (bytes < LARGE_BYTES) return () => undefined;
      const endTurn = turns.takeNow(owner);
      return endTurn && begin(owner, endTurn);
    },
  };
}
