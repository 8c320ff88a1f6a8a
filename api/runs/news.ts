import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from '../../db/connect.ts';
import { type Followed, findNewsOfRuns } from '../../db/runs/find-news-of-runs.ts';
import { createSharedReads } from '../../db/shared-reads.ts';

/** How often the database is asked. Announcing each block instead would slow every commit. */
const LOOK_MS = 250;
/** After a look that took long, the next comes this many times as long later, so that all looks take 4% of the time. */
const REST_TIMES = 24;
const REST_MAX_MS = 5_000;

/**
 * Block executions of an organization's runs that one look reads, about: those that a follower knows are read each time. Its other
 * runs are looked at next.
 */
const LOOK_MAX_BLOCKS = 10_000;

/** A run that a stream follows, and how many of its block executions the stream knows. */
type Following = Followed & { organizationId: string; known?: number };
type Waiter = {
  followed: Following;
  /** When it was last looked for, or came. */
  lookedAt: number;
  resolve(isNews: boolean): void;
  reject(error: unknown): void;
};

/** News of the runs that streams of this process follow. */
export type News = {
  /** Does `read`; those who ask for the same `key` while it is under way share its answer. */
  share<T>(key: string, read: () => Promise<T>): Promise<T>;
  /**
   * Waits until the followed run has news: resolves with true then, with false after `maxMs` or when the signal aborts.
   * Rejects when the database fails.
   */
  wait(followed: Following, maxMs: number, signal: AbortSignal): Promise<boolean>;
};

/**
 * Looks for news with one query for all streams, which asks once for streams that are equally far, as long as any waits. Of an
 * organization whose runs are much to read, it asks about some at a time, so that each look is short for all.
 */
export function createNews(db: Db): News {
  const waiters = new Set<Waiter>();
  // A look is for many organizations: it takes turns at connections for none of them, and is not part of a request.
  const forNobody = AsyncLocalStorage.snapshot();
  let isLooking = false;

  async function look(): Promise<void> {
    // Those who come during the query are asked about in the next.
    const began = performance.now();
    const asked = chooseFollowed([...Map.groupBy(waiters, toKey).values()]);
    for (const waiter of asked.flat()) waiter.lookedAt = began;
    try {
      const followed = asked.flatMap(([first]) => first?.followed ?? []);
      const places = followed.length > 0 ? await findNewsOfRuns(db, followed) : [];
      for (const place of places) for (const waiter of asked[place] ?? []) waiter.resolve(true);
    } catch (error) {
      for (const waiter of asked.flat()) waiter.reject(error);
    }
    isLooking = false;
    const restMs = (performance.now() - began) * REST_TIMES;
    lookAfter(Math.min(Math.max(LOOK_MS, restMs), REST_MAX_MS));
  }

  function lookAfter(ms: number): void {
    if (isLooking || waiters.size === 0) return;
    isLooking = true;
    setTimeout(() => void forNobody(look), ms);
  }

  return {
    share: createSharedReads(),
    async wait(followed, maxMs, signal) {
      if (signal.aborted) return false;
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      const waiter = { followed, lookedAt: performance.now(), resolve, reject };
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

/** Chooses what is asked about: of each organization what was looked for the longest time ago, as much as one look reads. */
function chooseFollowed(groups: Waiter[][]): Waiter[][] {
  const lookedAt = ([first]: Waiter[]) => first?.lookedAt ?? 0;
  return [...Map.groupBy(groups, ([first]) => first?.followed.organizationId).values()].flatMap((own) => {
    let blocks = 0;
    return own
      .toSorted((a, b) => lookedAt(a) - lookedAt(b))
      .filter((group) => {
        const hasRoom = blocks < LOOK_MAX_BLOCKS;
        if (hasRoom) blocks += 1 + Math.max(...group.map(({ followed }) => followed.known ?? 0));
        return hasRoom;
      });
  });
}

/** Tells apart what followers wait for. */
function toKey({ followed: { executionId, after, underWay } }: Waiter): string {
  return `${executionId} ${after} ${underWay}`;
}
