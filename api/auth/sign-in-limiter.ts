// Limits failed sign-ins per network. Credentials that verify are never limited: many clients may share an address.
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../flow/errors.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import { RetryLater } from '../http/request-errors.ts';

/** Longer than any address. A proxy may forward something else. */
const ADDRESS_MAX_CHARS = 64;
const ADDRESSES_MAX = 10_000;
/** An IPv6 address has so many groups; the first ones name its network. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;
/** The groups before an IPv4 address in IPv6. */
const MAPPED = '0:0:0:0:0:ffff';
const MINUTE_MS = 60_000;

export type SignInLimiter = {
  /**
   * Checks credentials with `verify`, which throws UNAUTHENTICATED. Throws RATE_LIMITED in its place when the network had too many
   * failures recently.
   */
  check<T>(request: IncomingMessage, verify: () => Promise<T>): Promise<T>;
};

/**
 * Creates a limiter that allows `perMinute` failures per network (0: no limit). `proxies`: the number of the
 * operator's own proxies in front of the service.
 */
export function createSignInLimiter({
  perMinute,
  proxies,
}: {
  perMinute: number;
  proxies: number;
}): SignInLimiter {
  /** A token bucket per network, refilled evenly: `left` tokens at the time `at`. */
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: ADDRESSES_MAX });

  function leftOf(address: string): number {
    const bucket = buckets.get(address);
    if (!bucket) return perMinute;
    const refilled = ((performance.now() - bucket.at) * perMinute) / MINUTE_MS;
    return Math.min(perMinute, bucket.left + refilled);
  }

  return {
    async check(request, verify) {
      try {
        return await verify();
      } catch (error) {
        const isInvalid = error instanceof ServiceError && error.code === 'UNAUTHENTICATED';
        if (!isInvalid || perMinute === 0) throw error;
        const address = networkOf(request, proxies);
        const left = leftOf(address);
        if (left >= 1) {
          buckets.set(address, { left: left - 1, at: performance.now() });
          throw error;
        }
        countRefusal('sign_in');
        const seconds = Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1_000);
        throw new RetryLater(
          'RATE_LIMITED',
          `The API key or token is not valid, and too many others from this address were not: send the next in ${seconds} s.`,
          seconds,
        );
      }
    },
  };
}

/** Returns the client's network, as the outermost of the operator's `proxies` saw it. */
export function networkOf({ headers, socket }: IncomingMessage, proxies: number): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const seen = proxies > 0 ? forwarded.at(-proxies)?.trim().slice(0, ADDRESS_MAX_CHARS) : undefined;
  return hostNetwork(seen || socket.remoteAddress || '');
}

/**
 * The network that one host has to itself, however its address is written: the whole address for IPv4 (also when mapped
 * into IPv6), the /64 for IPv6.
 */
export function hostNetwork(address: string): string {
  const [ip = ''] = address.split('%');
  if (!isIPv6(ip)) return address;
  const groups = expand(ip);
  if (groups.slice(0, 6).join(':') === MAPPED)
    return groups
      .slice(6)
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
      .join('.');
  return groups.slice(0, NETWORK_GROUPS).join(':');
}

/** Lists the eight groups of an IPv6 address in lower case, without leading zeros. */
function expand(ip: string): string[] {
  // A URL has the one usual spelling, with no dots at the end.
  const usual = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const [left = [], right = []] = usual.split('::').map((part) => part.split(':').filter(Boolean));
  return [...left, ...Array<string>(GROUPS - left.length - right.length).fill('0'), ...right];
}
