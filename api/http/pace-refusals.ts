import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../flow/errors.ts';
import { STATUS } from './errors.ts';
import { networkOf } from './network-of.ts';
import { ownerOf } from './principal.ts';

const PER_SECOND = 200;
/** So many may come at one moment. */
const BURST = 200;
/** As long as any request may take to be refused. */
const WAIT_MAX_MS = 5_000;
const OWNERS_MAX = 10_000;

const EVERY_MS = 1_000 / PER_SECOND;

/**
 * Has refusals (4xx) wait where there are more than 200 a second in this process: of one organization with API keys, of one
 * user, or of one network where the caller is not known. A caller that sends its request again as soon as it is refused would
 * keep the process busy with refusing. `proxies`: how many of the operator's own are in front of the service.
 */
export function paceRefusals(proxies: number, nextInMs = createRefusalPace()): Middleware {
  return async function paceRefusals(ctx, next) {
    try {
      await next();
    } catch (error) {
      if (error instanceof ServiceError && STATUS[error.code] < 500) {
        const { principal } = ctx.state;
        const ms = nextInMs(principal ? ownerOf(principal) : networkOf(ctx.req, proxies));
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
