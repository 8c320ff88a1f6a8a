// Leases of requests: a process takes a few requests of a quota at a time, so that most requests need no statement.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { type Quota, stepUsOf, takeRequests } from '../../db/tenants/limits.ts';

/** The share of a minute's requests that a process takes at a time; at least one request, so that small limits are exact. */
const LEASE_SHARE = 1 / 1_000;
/** Older leases are topped up first, so that headers show what other processes have taken. */
const CURRENT_MS = 1_000;
const LEASES_MAX = 10_000;
/** Counting takes a millisecond. A database that hangs is waited for where it is needed, not here as well. */
const COUNT_TIMEOUT_MS = 1_000;
const SECOND_US = 1_000_000;
const LATE = 'The database takes too long to count requests.';

/** A quota after a request: after `resetSeconds` all of it is available again, after `retrySeconds` one request. */
export type QuotaState = {
  name: string;
  perMinute: number;
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
  retrySeconds: number;
};

/**
 * Requests that were taken from a quota and not used yet (`left`), and those used while the database could not count (`owed`).
 * The quota is full again at `fullAt`, by the last answer of the database, `answeredAt`, and what is owed since; both are
 * readings of `performance.now()`. `empty`: not one request was left in it.
 */
type Lease = {
  left: number;
  owed: number;
  fullAt: number;
  answeredAt: number | undefined;
  empty: boolean;
  waiting: number;
  renewing: Promise<void> | undefined;
  /** Whether a request has waited for `renewing` as long as it may. */
  overdue: boolean;
};

export type RequestLeases = {
  /**
   * Takes one request from a quota. While the database cannot count, it goes on from the last answer; rejects when it has had
   * none.
   */
  take(quota: Quota): Promise<QuotaState>;
};

/** Creates the leases of one process. */
export function createRequestLeases(db: Db, countTimeoutMs = COUNT_TIMEOUT_MS): RequestLeases {
  const leases = new LRUCache<string, Lease>({ max: LEASES_MAX });

  function leaseOf(subject: string): Lease {
    const known = leases.get(subject);
    if (known) return known;
    const counts = { left: 0, owed: 0, fullAt: 0, answeredAt: undefined, waiting: 0 };
    const lease = { ...counts, empty: false, renewing: undefined, overdue: false };
    leases.set(subject, lease);
    return lease;
  }

  /** Takes what is owed, and tops the lease up to its size, or to what is waited for. */
  async function renew(lease: Lease, quota: Quota): Promise<void> {
    const stepUs = stepUsOf(quota);
    const used = Math.ceil(fullInUsOf(lease) / stepUs);
    // Requests that were taken before the quota was full again are in it again.
    if (used === 0) lease.left = 0;
    lease.owed = Math.min(lease.owed, used);
    const size = Math.max(1, Math.floor(quota.perMinute * LEASE_SHARE), lease.waiting);
    let count = Math.min(quota.perMinute, lease.owed + Math.max(0, size - lease.left));
    for (;;) {
      const { taken, fullInUs } = await takeRequests(db, quota, count);
      if (taken) {
        // Requests of this process may have been used meanwhile.
        const paid = Math.min(lease.owed, lease.left + count);
        lease.owed -= paid;
        lease.left += count - paid;
      }
      const now = performance.now();
      const fullAt = now + (fullInUs + lease.owed * stepUs) / 1_000;
      Object.assign(lease, { fullAt, answeredAt: now, empty: false });
      if (taken) return;
      const available = quota.perMinute - Math.ceil(fullInUs / stepUs);
      lease.empty = available < 1;
      if (lease.empty) return;
      count = Math.min(count, available);
    }
  }

  /**
   * Waits until the lease is renewed, or rejects when that takes too long. The renewal goes on: what it takes in the end
   * belongs to the lease, and nothing is taken for the same requests meanwhile.
   */
  function renewed(lease: Lease, quota: Quota): Promise<void> {
    lease.renewing ??= renew(lease, quota).finally(() => {
      lease.renewing = undefined;
      lease.overdue = false;
    });
    if (lease.overdue) return Promise.reject(new Error(LATE));
    return inTime(lease.renewing, countTimeoutMs, () => {
      lease.overdue = lease.renewing !== undefined;
    });
  }

  async function wait(lease: Lease, quota: Quota): Promise<QuotaState> {
    lease.waiting += 1;
    try {
      for (;;) {
        try {
          await renewed(lease, quota);
        } catch (error) {
          if (lease.answeredAt === undefined) throw error;
          return stateOf(lease, quota).remaining >= 1 ? useUncounted(lease, quota) : refuse(lease, quota);
        }
        if (lease.left >= 1) return use(lease, quota);
        if (lease.empty) return refuse(lease, quota);
      }
    } finally {
      // Before the next one that waits goes on: the lease is never topped up for a request that has been answered.
      lease.waiting -= 1;
    }
  }

  return {
    async take(quota) {
      const lease = leaseOf(quota.subject);
      return lease.left >= 1 && isCurrent(lease) ? use(lease, quota) : wait(lease, quota);
    },
  };
}

function use(lease: Lease, quota: Quota): QuotaState {
  lease.left -= 1;
  return { ...stateOf(lease, quota), allowed: true };
}

function useUncounted(lease: Lease, quota: Quota): QuotaState {
  if (lease.left >= 1) return use(lease, quota);
  lease.owed += 1;
  lease.fullAt = Math.max(lease.fullAt, performance.now()) + stepUsOf(quota) / 1_000;
  return { ...stateOf(lease, quota), allowed: true };
}

function refuse(lease: Lease, quota: Quota): QuotaState {
  return { ...stateOf(lease, quota), allowed: false };
}

function isCurrent(lease: Lease): boolean {
  const { answeredAt } = lease;
  return answeredAt !== undefined && performance.now() - answeredAt < CURRENT_MS && fullInUsOf(lease) > 0;
}

function fullInUsOf({ fullAt }: Lease): number {
  return Math.max(0, Math.round((fullAt - performance.now()) * 1_000));
}

/** Works out what is left of a quota: that of the row, refilled since, and that of the lease. */
function stateOf(lease: Lease, { name, perMinute }: Quota): Omit<QuotaState, 'allowed'> {
  const stepUs = stepUsOf({ perMinute });
  const fullInUs = Math.max(0, fullInUsOf(lease) - lease.left * stepUs);
  const leftUs = stepUs * perMinute - fullInUs;
  return {
    name,
    perMinute,
    remaining: Math.max(0, Math.floor(leftUs / stepUs)),
    resetSeconds: Math.ceil(fullInUs / SECOND_US),
    retrySeconds: Math.max(1, Math.ceil((stepUs - leftUs) / SECOND_US)),
  };
}

/** Calls `onLate`, and rejects, when `counting` takes longer than `timeoutMs`. */
function inTime<T>(counting: Promise<T>, timeoutMs: number, onLate: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => {
      onLate();
      reject(new Error(LATE));
    };
    const timer = setTimeout(late, timeoutMs);
    counting.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
