// The limiter of the service: shares a capacity between organizations, or other keys, and queues the requests beyond it.
// `npm run bench -- --neighbours` measures what the limiter is for: what one hostile organization costs the others.

/** While requests of both priorities are queued for a key, so many of high priority are served before one of low priority. */
const HIGH_IN_A_ROW_MAX = 3;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/**
 * Rejected requests of a key are to come back so far apart that two do for each permit that is released, up to 250 ms apart. They
 * cost more than queued ones: a retry of an activity takes Temporal 8 ms.
 */
const RETURNS_PER_RELEASE = 2;
const RETURN_GAP_MAX_MS = 250;
const RETURN_MAX_MS = 600_000;
/** Releases are counted in windows of this length. */
const WINDOW_MS = 10_000;

export type Priority = 'high' | 'low';

/** A part of the capacity. `using permit = await queue.acquire(…)` releases it at the end of the block. */
export type Permit = Disposable & {
  /** Releases the permit. A second call changes nothing. */
  release(): void;
};

/** `weight`: the part of the capacity that is needed, in whole numbers such as bytes; 1 by default. `priority`: high by default. */
type Request = { weight?: number; priority?: Priority };
export type Wait = { waitMaxMs?: number | undefined; signal?: AbortSignal | undefined };

export type FairQueue = {
  /**
   * Waits for a permit. Rejects with PermitRejected when the queue is full or after `waitMaxMs`, with the reason of the signal
   * when that aborts, or with the reason of `close`. A rejected request leaves nothing behind.
   */
  acquire(key: string, request?: Request & Wait): Promise<Permit>;
  /** Acquires a permit, or returns undefined when the request would have to wait. */
  tryAcquire(key: string, request?: Request): Permit | undefined;
  /** Rejects queued requests, and later ones that would have to wait. Permits in flight stay valid. */
  close(reason: Error): void;
  /** Counts permits in flight, their weight, queued requests, and the keys that have either. */
  count(): { inFlight: number; weight: number; queued: number; keys: number; oldestWaitMs: number };
};

/** Rejects a request: too many others are queued, or it was queued for too long. Suggests when to send it again. */
export class PermitRejected extends Error {
  override readonly name = 'PermitRejected';
  readonly reason: 'full' | 'deadline';
  /** Whether the requests of the key are the cause, or those of all keys together. */
  readonly scope: 'key' | 'all';
  readonly retryAfterMs: number;
  constructor(reason: PermitRejected['reason'], scope: PermitRejected['scope'], retryAfterMs: number) {
    super(reason === 'full' ? 'Too many requests are queued.' : 'The request was queued for too long.');
    this.reason = reason;
    this.scope = scope;
    this.retryAfterMs = retryAfterMs;
  }
}

type Options = {
  /** The largest weight in flight, of all keys. */
  capacity: number;
  /** More capacity, for idle keys. A key is idle when its weight in flight is 0, or at most `few` with its next request. */
  reserved?: number;
  few?: number;
  /** The largest weight in flight of one key. A heavier request counts as all of that, or of the capacity: it passes alone. */
  perKeyMax?: number;
  /** The most queued requests, of all keys and of one. */
  queuedMax?: number;
  queuedPerKeyMax?: number;
  /** The longest wait of requests that give none. */
  waitMaxMs?: number;
  /** After this time a permit is released, so that a slow holder keeps nobody out. */
  permitMaxMs?: number;
};

type Waiter = { key: string; weight: number; priority: Priority; since: number; permit?: Permit };
type PendingWaiter = Waiter & PromiseWithResolvers<Permit>;
/** `highInARow`: requests of high priority that were served while others of low priority were queued. */
type Queue = Record<Priority, Set<PendingWaiter>> & { highInARow: number };

/**
 * Creates a queue in front of a capacity. The waiting key with the least weight in flight is served next; of equal keys, the one
 * that had a permit longest ago. Its next request waits for room, so lighter requests cannot overtake a heavy one for ever. A key
 * that floods the queue is not idle, so the reserve serves the first requests of others at once.
 *
 * Priority orders the requests of one key: high before low, but every fourth permit is for a low one. Priority means nothing
 * between keys: no key gains on others by calling its requests high, and none has to.
 *
 * When too many requests are queued, the newest one of the longest queue is rejected, one of low priority where there is one: a
 * key that fills the queue keeps no other key out.
 */
export function createFairQueue(options: Options): FairQueue {
  const { capacity, reserved = 0, few = 1, perKeyMax = capacity } = options;
  const { queuedMax = Infinity, queuedPerKeyMax = Infinity, permitMaxMs = Infinity } = options;
  const inFlight = new Map<string, { permits: number; weight: number }>();
  /** Queues that are not empty, in the order in which keys of equal weight in flight are served. */
  const queues = new Map<string, Queue>();
  const used = { capacity: 0, reserved: 0 };
  const retries = createRetries();
  let queued = 0;
  let closed: Error | undefined;

  const weightOf = (key: string) => inFlight.get(key)?.weight ?? 0;
  const fitsKey = ({ key, weight }: Waiter) => weightOf(key) + weight <= perKeyMax;
  const fitsReserve = (waiter: Waiter) =>
    fitsKey(waiter) &&
    used.reserved + waiter.weight <= reserved &&
    (!inFlight.has(waiter.key) || weightOf(waiter.key) + waiter.weight <= few);

  /** Finds the next request of the key with the least weight in flight, among next requests that fit. */
  function findNext(fits: (waiter: Waiter) => boolean): PendingWaiter | undefined {
    let next: PendingWaiter | undefined;
    for (const queue of queues.values()) {
      const first = firstOf(queue);
      if (first && fits(first) && (!next || weightOf(first.key) < weightOf(next.key))) next = first;
    }
    return next;
  }

  function serve(): void {
    for (;;) {
      const next = findNext(fitsKey);
      const hasRoom = next && used.capacity + next.weight <= capacity;
      const granted = hasRoom ? next : findNext(fitsReserve);
      if (!granted) return;
      grant(granted, hasRoom ? 'capacity' : 'reserved');
    }
  }

  function grant(waiter: PendingWaiter, from: keyof typeof used): void {
    const { key, weight, priority } = waiter;
    const queue = remove(waiter);
    if (queue) queue.highInARow = priority === 'high' && queue.low.size > 0 ? queue.highInARow + 1 : 0;
    letOthersGoFirst(key);
    const own = inFlight.get(key) ?? { permits: 0, weight: 0 };
    inFlight.set(key, own);
    own.permits += 1;
    own.weight += weight;
    used[from] += weight;
    let released = false;
    const timer = permitMaxMs < Infinity ? setTimeout(release, permitMaxMs).unref() : undefined;
    function release(): void {
      if (released) return;
      released = true;
      retries.noteRelease();
      clearTimeout(timer);
      used[from] -= weight;
      own.weight -= weight;
      own.permits -= 1;
      if (own.permits === 0) inFlight.delete(key);
      letOthersGoFirst(key);
      serve();
    }
    waiter.permit = { release, [Symbol.dispose]: release };
    waiter.resolve(waiter.permit);
  }

  /** Moves the queue of a key behind those of other keys with equal weight in flight. */
  function letOthersGoFirst(key: string): void {
    const queue = queues.get(key);
    queues.delete(key);
    if (queue) queues.set(key, queue);
  }

  function add(key: string, { weight: asked = 1, priority = 'high' }: Request): PendingWaiter {
    if (!Number.isSafeInteger(asked) || asked < 0) throw new RangeError(`${asked} is no weight.`);
    const weight = Math.min(asked, perKeyMax, capacity);
    const waiter = { key, weight, priority, since: performance.now(), ...Promise.withResolvers<Permit>() };
    const queue = queues.get(key) ?? { high: new Set(), low: new Set(), highInARow: 0 };
    queues.set(key, queue);
    queue[priority].add(waiter);
    queued += 1;
    serve();
    return waiter;
  }

  /** Removes a request. Returns the queue that the request leaves, unless that is empty. */
  function remove(waiter: PendingWaiter): Queue | undefined {
    const queue = queues.get(waiter.key);
    if (queue?.[waiter.priority].delete(waiter)) queued -= 1;
    if (queue && lengthOf(queue) > 0) return queue;
    queues.delete(waiter.key);
    return undefined;
  }

  function reject(waiter: PendingWaiter, error: unknown): void {
    remove(waiter);
    waiter.reject(error);
    // The next request may be a lighter one, for which there is room.
    serve();
  }

  /** Rejects one request, maybe the newest of `key`, when too many are queued. */
  function rejectExcess(key: string): void {
    let longest = queues.get(key);
    if (!longest) return;
    const scope = lengthOf(longest) > queuedPerKeyMax ? 'key' : 'all';
    if (scope === 'all') {
      if (queued <= queuedMax) return;
      for (const queue of queues.values()) if (lengthOf(queue) > lengthOf(longest)) longest = queue;
    }
    const newest = [...longest.high, ...longest.low].at(-1);
    if (newest) reject(newest, new PermitRejected('full', scope, retries.of(newest.key, longest)));
  }

  return {
    async acquire(key, { waitMaxMs = options.waitMaxMs ?? Infinity, signal, ...request } = {}) {
      signal?.throwIfAborted();
      const waiter = add(key, request);
      if (waiter.permit) return waiter.permit;
      if (closed) reject(waiter, closed);
      else rejectExcess(key);
      // These change nothing once the request is granted: the caller gets the permit, and releases it.
      const abort = () => reject(waiter, signal?.reason);
      const expire = () =>
        reject(waiter, new PermitRejected('deadline', 'key', retries.of(key, queues.get(key))));
      const timer = waitMaxMs < Infinity ? setTimeout(expire, waitMaxMs).unref() : undefined;
      signal?.addEventListener('abort', abort, { once: true });
      try {
        return await waiter.promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      }
    },
    tryAcquire(key, request = {}) {
      const waiter = add(key, request);
      if (!waiter.permit) remove(waiter);
      return waiter.permit;
    },
    close(reason) {
      closed = reason;
      const waiters = [...queues.values()].flatMap(({ high, low }) => [...high, ...low]);
      queues.clear();
      queued = 0;
      for (const waiter of waiters) waiter.reject(reason);
    },
    count() {
      const permits = [...inFlight.values()].reduce((sum, own) => sum + own.permits, 0);
      const keys = new Set([...inFlight.keys(), ...queues.keys()]).size;
      const oldestWaitMs = Math.max(0, ...[...queues.values()].map(oldestWaitOf));
      return { inFlight: permits, weight: used.capacity + used.reserved, queued, keys, oldestWaitMs };
    },
  };
}

function lengthOf({ high, low }: Queue): number {
  return high.size + low.size;
}

/** Returns the next request of a key. */
function firstOf({ high, low, highInARow }: Queue): PendingWaiter | undefined {
  const isLowNext = high.size === 0 || (low.size > 0 && highInARow >= HIGH_IN_A_ROW_MAX);
  const [first] = isLowNext ? low : high;
  return first;
}

function oldestWaitOf({ high: [high], low: [low] }: Queue): number {
  const now = performance.now();
  return now - Math.min(high?.since ?? now, low?.since ?? now);
}

/** Suggests when rejected requests come back. */
function createRetries() {
  /** When the last rejected request of a key comes back. */
  const lastReturns = new Map<string, number>();
  let releases = { since: performance.now(), count: 0, before: 0 };

  function gapMs(now: number): number {
    const ms = now - releases.since;
    if (ms >= WINDOW_MS) releases = { since: now, count: 0, before: ms < 2 * WINDOW_MS ? releases.count : 0 };
    const count = Math.max(releases.count, releases.before);
    return Math.min(RETURN_GAP_MAX_MS, WINDOW_MS / (RETURNS_PER_RELEASE * count));
  }

  return {
    noteRelease() {
      releases.count += 1;
    },
    /**
     * Suggests a wait: about as long as the oldest queued request has waited, 1 to 90 s at random, and longer where many requests
     * of the key come back before.
     */
    of(key: string, queue: Queue | undefined): number {
      const now = performance.now();
      for (const [other, at] of lastReturns) if (at < now) lastReturns.delete(other);
      const oldestMs = Math.min(Math.max(queue ? oldestWaitOf(queue) : 0, RETRY_MIN_MS), RETRY_MAX_MS);
      const last = lastReturns.get(key) ?? now;
      const next = Math.min(last + gapMs(now), now + RETURN_MAX_MS);
      lastReturns.set(key, next);
      return Math.max(oldestMs * (1 + Math.random() / 2), next - now);
    },
  };
}
