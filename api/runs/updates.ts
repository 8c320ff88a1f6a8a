import { AsyncLocalStorage } from 'node:async_hooks';
import { createSharedReads, type Db } from '../../db/connect.ts';
import { type Followed, findUpdatedRuns } from '../../db/runs/find-updated-runs.ts';

/** Interval of database polls. A notification per block would slow every commit. */
const POLL_MS = 250;
/** Pause after a slow poll, as a multiple of its duration, so that polls take 4% of the time. */
const PAUSE_TIMES = 24;
const PAUSE_MAX_MS = 5_000;

/**
 * Approximate number of an organization's block executions that one poll reads, including known block executions.
 * The next poll reads its other runs.
 */
const POLL_MAX_BLOCKS = 10_000;

/** A run that a stream follows, and the number of its block executions that the stream knows. */
type Following = Followed & { organizationId: string; known?: number };
type Waiter = {
  followed: Following;
  /** The time of the last poll for it, or of its arrival. */
  polledAt: number;
  resolve(isUpdated: boolean): void;
  reject(error: unknown): void;
};

/** Updates of the runs that streams of this process follow. */
export type Updates = {
  /** Runs `read`. Concurrent callers with the same `key` share its result. */
  share<T>(key: string, read: () => Promise<T>): Promise<T>;
  /**
   * Waits for an update of the followed run: resolves with true then, with false after `maxMs` or when the signal
   * aborts. Rejects when the database fails.
   */
  wait(followed: Following, maxMs: number, signal: AbortSignal): Promise<boolean>;
};

/**
 * Polls for updates of all streams with one query while any stream waits. Streams at the same position share a row.
 * For an organization with much to read, polls some of its runs at a time, so that each poll is short.
 */
export function createUpdates(db: Db): Updates {
  const waiters = new Set<Waiter>();
  // A poll serves many organizations: it queues under none of them, and is not part of a request.
  const outsideRequests = AsyncLocalStorage.snapshot();
  let isPolling = false;

  async function poll(): Promise<void> {
    // Streams that arrive during the query are polled next time.
    const began = performance.now();
    const asked = chooseFollowed([...Map.groupBy(waiters, toKey).values()]);
    for (const waiter of asked.flat()) waiter.polledAt = began;
    try {
      const followed = asked.flatMap(([first]) => first?.followed ?? []);
      const places = followed.length > 0 ? await findUpdatedRuns(db, followed) : [];
      for (const place of places) for (const waiter of asked[place] ?? []) waiter.resolve(true);
    } catch (error) {
      for (const waiter of asked.flat()) waiter.reject(error);
    }
    isPolling = false;
    const pauseMs = (performance.now() - began) * PAUSE_TIMES;
    pollAfter(Math.min(Math.max(POLL_MS, pauseMs), PAUSE_MAX_MS));
  }

  function pollAfter(ms: number): void {
    if (isPolling || waiters.size === 0) return;
    isPolling = true;
    setTimeout(() => void outsideRequests(poll), ms);
  }

  return {
    share: createSharedReads(),
    async wait(followed, maxMs, signal) {
      if (signal.aborted) return false;
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      const waiter = { followed, polledAt: performance.now(), resolve, reject };
      const stop = () => resolve(false);
      const timer = setTimeout(stop, Math.max(0, maxMs));
      signal.addEventListener('abort', stop, { once: true });
      waiters.add(waiter);
      pollAfter(POLL_MS);
      try {
        return await promise;
      } finally {
        waiters.delete(waiter);
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** Selects what to poll: for each organization the runs polled longest ago, as many as one poll reads. */
function chooseFollowed(groups: Waiter[][]): Waiter[][] {
  const polledAt = ([first]: Waiter[]) => first?.polledAt ?? 0;
  return [...Map.groupBy(groups, ([first]) => first?.followed.organizationId).values()].flatMap((own) => {
    let blocks = 0;
    return own
      .toSorted((a, b) => polledAt(a) - polledAt(b))
      .filter((group) => {
        const hasRoom = blocks < POLL_MAX_BLOCKS;
        if (hasRoom) blocks += 1 + Math.max(...group.map(({ followed }) => followed.known ?? 0));
        return hasRoom;
      });
  });
}

/** Returns the key under which followers share a poll. */
function toKey({ followed: { executionId, after, underWay } }: Waiter): string {
  return `${executionId} ${after} ${underWay}`;
}
