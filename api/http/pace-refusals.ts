import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../flow/errors.ts';
import { hostNetwork } from '../../platform/net/host-network.ts';
import type { ApiContext, ApiMiddleware } from './context.ts';
import { STATUS } from './errors.ts';
import { ownerOf } from './principal.ts';
import { readerSignal } from './reader-signal.ts';

/** Longer than any address. A proxy may forward something else. */
const MAX_CHARS = 64;

export const PER_SECOND = 200;
/** So many may come at one moment. */
const BURST = 200;
export const WAIT_MAX_MS = 5_000;
const OWNERS_MAX = 10_000;

const EVERY_MS = 1_000 / PER_SECOND;

/** `proxies`: the number of the operator's own proxies in front of the service. `stopping` ends all waits. */
type PaceDeps = { config: { proxies: number }; stopping?: AbortSignal | undefined };

/**
 * Delays rejections (4xx) of a client with more than 200 a second in this process, by up to 5 s: a client that
 * repeats a rejected request without pause would keep the process busy. Releases the permit for the
 * bytes of the response first.
 */
export function paceRefusals({ config, stopping }: PaceDeps): ApiMiddleware {
  const nextInMs = createRefusalPace();
  return async function paceRefusals(ctx, next) {
    try {
      await next();
    } catch (error) {
      if (error instanceof ServiceError) await pace(ctx, STATUS[error.code]);
      throw error;
    }
    // MCP answers some of its rejections itself.
    await pace(ctx, ctx.status);
  };

  async function pace(ctx: ApiContext, status: number): Promise<void> {
    if (status < 400 || status >= 500) return;
    const owner = ownerOfRefusal(ctx, status, config.proxies);
    const ms = owner === undefined ? 0 : nextInMs(owner);
    if (ms === 0) return;
    ctx.state.releaseAnswer?.();
    await sleep(ms, undefined, { signal: readerSignal(ctx.res, stopping) }).catch(() => undefined);
  }
}

/**
 * Returns the key under which a rejection is counted: an organization for API keys, a user, or a network with too
 * many failed sign-ins. Undefined for other unknown callers: the first 401 tells a client how to sign in.
 */
function ownerOfRefusal({ state, req }: ApiContext, status: number, proxies: number): string | undefined {
  if (state.principal) return ownerOf(state.principal);
  return status === STATUS.RATE_LIMITED ? `address ${networkOf(req, proxies)}` : undefined;
}

/** Creates the function that counts a rejection for `owner` and returns its delay in milliseconds, at most 5,000. */
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

/** Returns the client's network, as the outermost of the operator's `proxies` saw it. */
export function networkOf({ headers, socket }: IncomingMessage, proxies: number): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const seen = proxies > 0 ? forwarded.at(-proxies)?.trim().slice(0, MAX_CHARS) : undefined;
  return hostNetwork(seen || socket.remoteAddress || '');
}
