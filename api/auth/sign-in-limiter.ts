// Bounds failed authentication per address. Credentials that were valid lately are not held up by others' failures.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../flow/errors.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import { networkOf } from '../http/network-of.ts';
import { RetryLater } from '../http/retry-later.ts';

const ADDRESSES_MAX = 10_000;
const VALID_MAX = 10_000;
const VALID_MS = 60 * 60 * 1_000;
const MINUTE_MS = 60_000;

export type SignInLimiter = {
  /**
   * Checks credentials with `verify`, which throws UNAUTHENTICATED when they are wrong. Throws RATE_LIMITED without
   * checking when the request's address had too many failures lately, unless these credentials were valid lately.
   */
  check<T>(request: IncomingMessage, credentials: string, verify: () => Promise<T>): Promise<T>;
};

/**
 * Creates a limiter that allows each address `perMinute` failures (0: any number). `proxies`: how many of the operator's
 * own proxies are in front of the service.
 */
export function createSignInLimiter({
  perMinute,
  proxies,
}: {
  perMinute: number;
  proxies: number;
}): SignInLimiter {
  /** A token bucket per address, refilled evenly: `left` is what it held at the time `at`; never below -perMinute. */
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: ADDRESSES_MAX });
  const valid = new LRUCache<string, true>({ max: VALID_MAX, ttl: VALID_MS });

  function leftOf(address: string): number {
    const bucket = buckets.get(address);
    if (!bucket) return perMinute;
    const refilled = ((performance.now() - bucket.at) * perMinute) / MINUTE_MS;
    return Math.min(perMinute, bucket.left + refilled);
  }

  return {
    async check(request, credentials, verify) {
      if (perMinute === 0) return verify();
      const digest = createHash('sha256').update(credentials).digest('base64');
      const address = networkOf(request, proxies);
      const left = leftOf(address);
      if (left < 1 && !valid.has(digest)) {
        countRefusal('sign_in');
        const seconds = Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1_000);
        throw new RetryLater(
          'RATE_LIMITED',
          `Too many invalid keys and tokens came from this address: try again in ${seconds} s.`,
          seconds,
        );
      }
      try {
        const verified = await verify();
        valid.set(digest, true);
        return verified;
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED') {
          valid.delete(digest);
          buckets.set(address, { left: Math.max(leftOf(address) - 1, -perMinute), at: performance.now() });
        }
        throw error;
      }
    },
  };
}
