// Counts requests that got 429, for usage statistics: in memory, and every two seconds in the database.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { addRateLimited, type RateLimited } from '../../db/usage/count-usage.ts';
import type { ApiState } from '../http/context.ts';

const EVERY_MS = 2_000;
/** A database that hangs does not delay the end of the process. */
const CLOSE_MAX_MS = 2_000;
/** Callers in memory. Beyond this number, a 429 is not counted. */
const CALLERS_MAX = 10_000;

export type RateLimitedCounter = {
  /** Counts a 429, when the caller's project is known. */
  count(state: ApiState): void;
  /** Stores the counts; keeps them in memory when that fails. */
  store(): Promise<void>;
  /** Stores the remaining counts and stops. */
  close(): Promise<void>;
};

/** Creates the counter of one process. A killed process loses the counts of the last two seconds. */
export function createRateLimitedCounter(db: Db): RateLimitedCounter {
  const counted = new Map<string, RateLimited>();

  function add({ count, ...caller }: RateLimited): void {
    const id = Object.values(caller).join(' ');
    const known = counted.get(id);
    if (known) known.count += count;
    else if (counted.size < CALLERS_MAX) counted.set(id, { ...caller, count });
  }

  async function store(): Promise<void> {
    const taken = [...counted.values()];
    counted.clear();
    if (taken.length === 0) return;
    try {
      await addRateLimited(db, taken);
    } catch {
      // The database logs its outage. The counts are stored next time.
      for (const caller of taken) add(caller);
    }
  }

  const timer = setInterval(() => void store(), EVERY_MS).unref();
  return {
    count(state) {
      const caller = callerOf(state);
      if (caller) add({ ...caller, count: 1 });
    },
    store,
    async close() {
      clearInterval(timer);
      await Promise.race([store(), sleep(CLOSE_MAX_MS, undefined, { ref: false })]);
    },
  };
}

function callerOf({ principal, flow, flowIds }: ApiState): Omit<RateLimited, 'count'> | undefined {
  if (principal?.kind === 'key') {
    const { organizationId, projectId, key } = principal;
    return { organizationId, projectId, keyId: key.key_id };
  }
  const of = flow ?? flowIds;
  return of && { organizationId: of.organizationId, projectId: of.projectId, keyId: '' };
}
