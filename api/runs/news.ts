import type { Db } from '../../db/connect.ts';
import { type Followed, findNewsOfRuns } from '../../db/runs/find-news-of-runs.ts';

/** How often the database is asked. Announcing each block instead would slow every commit. */
const LOOK_MS = 250;
/** After a look that took long, the next comes this many times as long later, so that all looks take 4% of the time. */
const REST_TIMES = 24;
const REST_MAX_MS = 5_000;

type Waiter = { followed: Followed; resolve(isNews: boolean): void; reject(error: unknown): void };

/** News of the runs that streams of this process follow. */
export type News = {
  /**
   * Waits until the followed run has news: resolves with true then, with false after `maxMs` or when the signal aborts.
   * Rejects when the database fails.
   */
  wait(followed: Followed, maxMs: number, signal: AbortSignal): Promise<boolean>;
};

/** Looks for news with one query for all streams, as long as any of them waits. */
export function createNews(db: Db): News {
  const waiters = new Set<Waiter>();
  let isLooking = false;

  async function look(): Promise<void> {
    // Those who come during the query are asked about in the next.
    const asked = [...waiters];
    const began = performance.now();
    try {
      const followed = asked.map((waiter) => waiter.followed);
      const places = followed.length > 0 ? await findNewsOfRuns(db, followed) : [];
      for (const place of places) asked[place]?.resolve(true);
    } catch (error) {
      for (const waiter of asked) waiter.reject(error);
    }
    isLooking = false;
    const restMs = (performance.now() - began) * REST_TIMES;
    lookAfter(Math.min(Math.max(LOOK_MS, restMs), REST_MAX_MS));
  }

  function lookAfter(ms: number): void {
    if (isLooking || waiters.size === 0) return;
    isLooking = true;
    setTimeout(() => void look(), ms);
  }

  return {
    async wait(followed, maxMs, signal) {
      if (signal.aborted) return false;
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      const waiter = { followed, resolve, reject };
      const leave = () => resolve(false);
      const timer = setTimeout(leave, Math.max(0, maxMs));
      signal.addEventListener('abort', leave, { once: true });
      waiters.add(waiter);
      lookAfter(LOOK_MS);
      try {
        return await promise;
      } finally {
        waiters.delete(waiter);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      }
    },
  };
}
