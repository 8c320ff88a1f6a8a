import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../flow/errors.ts';
import { STATUS } from './errors.ts';
import { ownerOf } from './principal.ts';

const PER_SECOND = 200;
/** So many may come at one moment. */
const BURST = 200;
/** As long as any request may take to be refused. */
const WAIT_MAX_MS = 5_000;
const OWNERS_MAX = 10_000;

const EVERY_MS = 1_000 / PER_SECOND;

/**
 * Has the refusals (4xx) of one organization, or of a user until it is known for which organization they ask, wait where there
 * are more than 200 a second in this process. A caller that sends its request again as soon as it is refused would keep the
 * process busy with refusing.
 */
export function paceRefusals(nextInMs = createRefusalPace()): Middleware {
  return async function paceRefusals(ctx, next) {
    try {
      await next();
    } catch (error) {
      const { principal } = ctx.state;
      if (principal && error instanceof ServiceError && STATUS[error.code] < 500) {
        const ms = nextInMs(ownerOf(principal));
        if (ms > 0) await sleep(ms);
      }
      throw error;
    }
  };
}

/** Creates the function that counts a refusal of `owner`, and returns after how many milliseconds it is due: 5,000 at most. */
export function createRefusalPace(now = () => performance.now()): (owner: string) => number {
  const lastDue = new LRUCache<string, number>({ max: OWNERS_MAX });
  return function nextInMs(owner) {
    const at = now();
    const due = Math.max(lastDue.get(owner) ?? -Infinity, at - BURST * EVERY_MS) + EVERY_MS;
    const bounded = Math.min(due, at + WAIT_MAX_MS);
    lastDue.set(owner, bounded);
    return Math.max(0, bounded - at);
  };
}
