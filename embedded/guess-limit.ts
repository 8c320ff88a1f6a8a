import { LRUCache } from 'lru-cache';

/** Guesses of one email's password in the time below, and emails that may be guessed at in it. */
const GUESSES_MAX = 5;
export const EMAILS_MAX = 1_000;
const KEPT_MS = 5 * 60_000;

export type GuessLimit = {
  /** Counts a guess; false when it is one too many. */
  allow(email: string): boolean;
  /** After a right guess. */
  forget(email: string): void;
};

/** While as many emails are counted as may be, no other one is: none is forgotten early, whatever else is guessed at. */
export function createGuessLimit(): GuessLimit {
  const guesses = new LRUCache<string, number>({ max: EMAILS_MAX, ttl: KEPT_MS });
  return {
    allow(email) {
      const made = guesses.get(email) ?? 0;
      if (made === 0 && guesses.size >= EMAILS_MAX) guesses.purgeStale();
      if (made >= GUESSES_MAX || (made === 0 && guesses.size >= EMAILS_MAX)) return false;
      guesses.set(email, made + 1);
      return true;
    },
    forget: (email) => void guesses.delete(email),
  };
}
