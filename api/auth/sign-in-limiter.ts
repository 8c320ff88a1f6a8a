// Failed authentication has a bound per address; credentials that were good lately are not held up by others' failures.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../flow/errors.ts';

const ADDRESSES_MAX = 10_000;
const GOOD_MAX = 10_000;
const GOOD_MS = 60 * 60 * 1_000;
const MINUTE_MS = 60_000;

export type SignInLimiter = {
  /**
   * Checks credentials with `verify`, which throws UNAUTHENTICATED where they are wrong. Throws RATE_LIMITED instead,
   * without checking, when too many from the request's address were wrong lately, unless these have been right.
   */
  check<T>(ctx: SignInContext, credentials: string, verify: () => Promise<T>): Promise<T>;
};
type SignInContext = { req: IncomingMessage; set(field: string, value: string): void };

/** `perMinute`: failures an address may have; 0: any number. `proxies`: how many of ours are in front of the service. */
export function createSignInLimiter({
  perMinute,
  proxies,
}: {
  perMinute: number;
  proxies: number;
}): SignInLimiter {
  /** A bucket per address, refilled evenly: `left` is what it held at `at`; below zero it holds no more than as much. */
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: ADDRESSES_MAX });
  const good = new LRUCache<string, true>({ max: GOOD_MAX, ttl: GOOD_MS });

  function leftOf(address: string): number {
    const bucket = buckets.get(address);
    if (!bucket) return perMinute;
    const refilled = ((performance.now() - bucket.at) * perMinute) / MINUTE_MS;
    return Math.min(perMinute, bucket.left + refilled);
  }

  return {
    async check(ctx, credentials, verify) {
      if (perMinute === 0) return verify();
      const mark = createHash('sha256').update(credentials).digest('base64');
      const address = addressOf(ctx.req, proxies);
      const left = leftOf(address);
      if (left < 1 && !good.has(mark)) {
        const seconds = Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1_000);
        ctx.set('Retry-After', String(seconds));
        throw new ServiceError(
          'RATE_LIMITED',
          `Too many invalid keys and tokens came from this address: try again in ${seconds} s.`,
        );
      }
      try {
        const verified = await verify();
        good.set(mark, true);
        return verified;
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED') {
          good.delete(mark);
          buckets.set(address, { left: Math.max(leftOf(address) - 1, -perMinute), at: performance.now() });
        }
        throw error;
      }
    },
  };
}

/** Who sends a request, as the outermost of our proxies saw it; of IPv6 the network, for a host has it whole. */
function addressOf({ headers, socket }: IncomingMessage, proxies: number): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const seen = proxies > 0 ? forwarded.at(-proxies)?.trim() : undefined;
  const address = (seen || socket.remoteAddress || '').replace(/^::ffff:/i, '');
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
