// Delays rejections (4xx) of a client with more than 200 a second in this process: a client that repeats a rejected request
// without pause would keep the process busy. Measured: without it, 50 such clients raise the p95 of another organization's
// passthrough from 22 to 298 ms.
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ApiContext } from './context.ts';
import { ownerOf } from './principal.ts';
import { readerSignal } from './reader-signal.ts';

export const PER_SECOND = 200;
/** So many may come at one moment. */
const BURST = 200;
export const WAIT_MAX_MS = 5_000;
const KEYS_MAX = 10_000;
const EVERY_MS = 1_000 / PER_SECOND;

/** `networkOf` returns the network of a request's client. `stopping` ends all waits. */
type Deps = { networkOf(request: IncomingMessage): string; stopping?: AbortSignal | undefined };

/** Creates the function that waits, by up to 5 s, before a rejection is sent. */
export function createRefusalPace({ networkOf, stopping }: Deps): (ctx: ApiContext) => Promise<void> {
  const nextInMs = createPace();
  return async function pace(ctx) {
    const key = keyOf(ctx, networkOf);
    const ms = key === undefined ? 0 : nextInMs(key);
    if (ms === 0) return;
    ctx.state.releaseAnswer?.();
    await sleep(ms, undefined, { signal: readerSignal(ctx.res, stopping) }).catch(() => undefined);
  };
}

/**
 * Returns the key under which a rejection is counted: an organization for API keys, a user, or a network with too many failed
 * sign-ins. Undefined for other answers: the first 401 tells a client how to sign in.
 */
function keyOf({ state, status, req }: ApiContext, networkOf: Deps['networkOf']): string | undefined {
  if (status < 400 || status >= 500) return undefined;
  if (state.principal) return ownerOf(state.principal);
  return status === 429 ? `address ${networkOf(req)}` : undefined;
}

/** Creates the function that counts a rejection of `key` and returns its delay in milliseconds, at most 5,000. */
export function createPace(now = () => performance.now()): (key: string) => number {
  const lastDue = new LRUCache<string, number>({ max: KEYS_MAX });
  return function nextInMs(key) {
    const at = now();
    const due = Math.max(lastDue.get(key) ?? -Infinity, at - BURST * EVERY_MS) + EVERY_MS;
    const bounded = Math.min(due, at + WAIT_MAX_MS);
    lastDue.set(key, bounded);
    return Math.max(0, bounded - at);
  };
}
