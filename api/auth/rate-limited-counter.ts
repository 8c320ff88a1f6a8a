// Counts the requests that were answered 429, for usage: in memory, and now and then in the database.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { ConnectionShareUsed } from '../../db/connection/connection-turns.ts';
import { addRateLimited, type RateLimited } from '../../db/usage/add-rate-limited.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiContext, ApiMiddleware } from '../http/context.ts';

const EVERY_MS = 2_000;
/** A database that hangs does not keep the process from ending. */
const CLOSE_MAX_MS = 2_000;
/** Callers that are counted at a time; beyond, a 429 is counted for nobody. */
const CALLERS_MAX = 10_000;

export type RateLimitedCounter = {
  /** Counts each 429 of what comes after it, where the caller's project is known. */
  count: ApiMiddleware;
  /** Stores what has been counted; keeps it where that fails. */
  store(): Promise<void>;
  /** Stores what is left, and ends. */
  close(): Promise<void>;
};

/** Creates the counter of one process. A process that is killed loses those of the last two seconds. */
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
      // The database says in the log that it is away; what was counted is stored the next time.
      for (const caller of taken) add(caller);
    }
  }

  const timer = setInterval(() => void store(), EVERY_MS).unref();
  return {
    async count(ctx, next) {
      try {
        await next();
      } catch (error) {
        const caller = isRateLimited(error) && callerOf(ctx);
        if (caller) add({ ...caller, count: 1 });
        throw error;
      }
    },
    store,
    async close() {
      clearInterval(timer);
      await Promise.race([store(), sleep(CLOSE_MAX_MS, undefined, { ref: false })]);
    },
  };
}

function isRateLimited(error: unknown): boolean {
  if (error instanceof ConnectionShareUsed) return true;
  return error instanceof ServiceError && error.code === 'RATE_LIMITED';
}

function callerOf({
  state: { principal, flow, flowIds },
}: ApiContext): Omit<RateLimited, 'count'> | undefined {
  if (principal?.kind === 'key') {
    const { organizationId, projectId, key } = principal;
    return { organizationId, projectId, keyId: key.key_id };
  }
  const of = flow ?? flowIds;
  return of && { organizationId: of.organizationId, projectId: of.projectId, keyId: '' };
}
