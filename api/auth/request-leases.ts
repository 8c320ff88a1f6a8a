// Leases of requests: a process takes a few requests of a quota at a time, so that most requests need no statement.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { type Quota, stepUsOf, takeRequests } from '../../db/tenants/rate-limits.ts';

/** The share of a minute's requests that a process takes at a time; at least one request, so that small limits are exact. */
const LEASE_SHARE = 1 / 1_000;
/** Older leases are topped up first, so that headers show what other processes have taken. */
const CURRENT_MS = 1_000;
const LEASES_MAX = 10_000;
/** Counting takes a millisecond. A database that hangs is waited for where it is needed, not here as well. */
const COUNT_TIMEOUT_MS = 1_000;
const SECOND_US = 1_000_000;

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
 * Requests that were taken from a quota and not used yet (`left`, below 0 what the quota is owed), and the quota as it was
 * `at` the time of the last answer: full again after `fullInUs`, and `empty` when not one request was left.
 */
type Lease = {
  left: number;
  fullInUs: number;
  at: number | undefined;
  empty: boolean;
  waiting: number;
  renewing: Promise<void> | undefined;
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
    const lease = { left: 0, fullInUs: 0, at: undefined, empty: false, waiting: 0, renewing: undefined };
    leases.set(subject, lease);
    return lease;
  }

  /** Tops the lease up to its size, or to what is waited for. */
  async function renew(lease: Lease, quota: Quota): Promise<void> {
    // Requests that were taken before the quota was full again are in it again.
    if (lease.left > 0 && fullInUsOf(lease) === 0) lease.left = 0;
    const size = Math.max(1, Math.floor(quota.perMinute * LEASE_SHARE), lease.waiting);
    let count = Math.min(quota.perMinute, Math.max(0, size - lease.left));
    for (;;) {
      const { taken, fullInUs } = await inTime(takeRequests(db, quota, count), countTimeoutMs);
      Object.assign(lease, { fullInUs, at: performance.now(), empty: false });
      if (taken) {
        lease.left += count;
        return;
      }
      const available = quota.perMinute - Math.ceil(fullInUs / stepUsOf(quota));
      lease.empty = available < 1;
      if (lease.empty) return;
      count = Math.min(count, available);
    }
  }

  async function wait(lease: Lease, quota: Quota): Promise<QuotaState> {
    lease.waiting += 1;
    try {
      for (;;) {
        lease.renewing ??= renew(lease, quota).finally(() => {
          lease.renewing = undefined;
        });
        try {
          await lease.renewing;
        } catch (error) {
          if (lease.at === undefined) throw error;
          return stateOf(lease, quota).remaining >= 1 ? use(lease, quota) : refuse(lease, quota);
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

function refuse(lease: Lease, quota: Quota): QuotaState {
  return { ...stateOf(lease, quota), allowed: false };
}

function isCurrent(lease: Lease): boolean {
  return lease.at !== undefined && performance.now() - lease.at < CURRENT_MS && fullInUsOf(lease) > 0;
}

function fullInUsOf({ at = 0, fullInUs }: Lease): number {
  return Math.max(0, fullInUs - (performance.now() - at) * 1_000);
}

/** Works out what is left of a quota: that of the row, refilled since, and that of the lease. */
function stateOf(lease: Lease, { name, perMinute }: Quota): Omit<QuotaState, 'allowed'> {
  const stepUs = stepUsOf({ perMinute });
  const fullInUs = Math.max(0, fullInUsOf(lease) - lease.left * stepUs);
  const leftUs = stepUs * perMinute - fullInUs;
  return {
    ...{ name, perMinute },
    remaining: Math.max(0, Math.floor(leftUs / stepUs)),
    resetSeconds: Math.ceil(fullInUs / SECOND_US),
    retrySeconds: Math.max(1, Math.ceil((stepUs - leftUs) / SECOND_US)),
  };
}

function inTime<T>(counting: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`the database took over ${timeoutMs} ms`));
    const timer = setTimeout(late, timeoutMs);
    counting.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
