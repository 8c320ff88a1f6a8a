import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Wrong passwords for one email within WINDOW_MS. */
const GUESSES_MAX = 5;
const WINDOW_MS = 5 * 60_000;
/** Emails share counters by 16 bits of their hash. Each value has one, so a counter is never evicted for another. */
const COUNTERS = 0x10000;

type PasswordGuessLimit = {
  /** Counts a guess and returns false when it is one too many. */
  allow(email: string): boolean;
  /** Resets the count after the right password. */
  forget(email: string): void;
};

/** Limits how often a password can be guessed: 5 times in 5 minutes for each email. */
export function limitPasswordGuesses(): PasswordGuessLimit {
  const guesses = new LRUCache<number, number>({ max: COUNTERS, ttl: WINDOW_MS });
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
