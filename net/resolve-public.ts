// Where a host that a user chose may be dialled: every address it has must be public.
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export const RESOLVE_TIMEOUT_MS = 4_000;
const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;

/** A host and port as a `URL` has them: an IPv6 address in brackets, an empty port for 443. */
export type Destination = { hostname: string; port: string };

/** An address that was checked: it is to be dialled as it is, without another look-up. */
export type DialTarget = { address: string; family: 4 | 6; port: number };

export type Resolution =
  | { targets: [DialTarget, ...DialTarget[]]; problem?: never }
  | { targets?: never; problem: 'not_public' | 'unresolved'; message: string };

export type ResolvePublic = (destination: Destination) => Promise<Resolution>;

/** `host` or `host:port` → `address:port` that is dialled instead, unchecked. For tests only. */
export type DialMap = { [host: string]: string };

export type ResolverOptions = {
  dialMap?: DialMap | undefined;
  /** Answers every A and AAAA record of a name; rejects when it cannot. */
  lookup?: (hostname: string) => Promise<string[]>;
};

/** Names that are never public, whatever a resolver says: without a dot, and of the local network. */
const LOCAL_NAME = /^[^.]+\.?$|\.(?:localhost|local|internal)\.?$/i;

/**
 * A function that answers the addresses to dial, or, within RESOLVE_TIMEOUT_MS of its look-up, why there are none:
 * `not_public` when any one address is not, `unresolved` when there is none or no answer.
 */
export function createResolvePublic({ dialMap = {}, lookup = lookUp }: ResolverOptions = {}): ResolvePublic {
  return async function resolvePublic({ hostname, port }) {
    const dialPort = Number(port || 443);
    const mapped = [`${hostname}:${dialPort}`, hostname].find((host) => Object.hasOwn(dialMap, host));
    if (mapped !== undefined) return { targets: [parseTarget(dialMap[mapped] as string)] };

    const literal = withoutBrackets(hostname);
    if (!isIP(literal) && LOCAL_NAME.test(hostname)) return notPublic(hostname);
    const addresses = isIP(literal) ? [literal] : await lookup(hostname).catch(() => []);
    const [first, ...others] = addresses;
    if (first === undefined) return { problem: 'unresolved', message: `${hostname} cannot be resolved` };
    if (!addresses.every(isPublicAddress)) return notPublic(hostname);
    const toTarget = (address: string) => ({ address, family: familyOf(address), port: dialPort });
    return { targets: [toTarget(first), ...others.map(toTarget)] };
  };
}

function notPublic(hostname: string): Resolution {
  return { problem: 'not_public', message: `${hostname} is not at a public address` };
}

/** By DNS alone: neither the hosts file nor the search domains of this machine count. */
async function lookUp(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const timer = setTimeout(() => resolver.cancel(), RESOLVE_TIMEOUT_MS);
  try {
    const answers = [resolver.resolve4(hostname), resolver.resolve6(hostname)];
    return (await Promise.all(answers.map((answer) => answer.catch(noneWhenMissing)))).flat();
  } finally {
    clearTimeout(timer);
  }
}

/** A name may well have addresses of one family only. */
function noneWhenMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return [];
  throw error;
}

function parseTarget(text: string): DialTarget {
  const colon = text.lastIndexOf(':');
  const address = withoutBrackets(text.slice(0, colon));
  return { address, family: familyOf(address), port: Number(text.slice(colon + 1)) };
}

/** A host as it is dialled: a URL has IPv6 addresses in brackets. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function familyOf(address: string): 4 | 6 {
  return isIP(address) === 6 ? 6 : 4;
}
