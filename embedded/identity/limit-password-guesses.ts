import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Guesses of one email's password in the time below. */
const GUESSES_MAX = 5;
const KEPT_MS = 5 * 60_000;
/** Emails share counters by 16 bits of their hash: there is one for each value, so none is dropped for another. */
const COUNTERS = 0x10000;

export type GuessLimit = {
  /** Counts a guess; false when it is one too many. */
  allow(email: string): boolean;
  /** After a right guess. */
  forget(email: string): void;
};

export function createGuessLimit(): GuessLimit {
  const guesses = new LRUCache<number, number>({ max: COUNTERS, ttl: KEPT_MS });
  return {
    allow(email) {
      const made = guesses.get(counterOf(email)) ?? 0;
      if (made >= GUESSES_MAX) return false;
      guesses.set(counterOf(email), made + 1);
      return true;
    },
    forget: (email) => void guesses.delete(counterOf(email)),
  };
}

function counterOf(email: string): number {
  return createHash('sha256').update(email).digest().readUInt16BE();
}
