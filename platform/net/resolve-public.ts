// Resolves a host that a user chose; every address it has must be public.
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // The host of a virtual machine at one cloud provider.
  '168.63.129.16/32',
];

/** All other IPv6 addresses are special: loopback, mapped IPv4, NAT64, unique local, link-local, multicast. */
const PUBLIC_IPV6 = ['2000::/3'];
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '2620:4f:8000::/48'];

const specialIpv4 = listOf('ipv4', SPECIAL_IPV4);
const publicIpv6 = listOf('ipv6', PUBLIC_IPV6);

const specialIpv6 = listOf('ipv6', SPECIAL_IPV6);

const RESOLVE_TIMEOUT_MS = 4_000;
const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;

/** A host and port as a `URL` has them: an IPv6 address in brackets, an empty port for 443. */
type Destination = { hostname: string; port: string };

/** A checked address, to be dialled as it is, without another look-up. */
export type DialTarget = { address: string; family: 4 | 6; port: number };

type Resolution =
  | { targets: [DialTarget, ...DialTarget[]]; problem?: never }
  | { targets?: never; problem: 'not_public' | 'unresolved' | 'no_answer'; message: string };

export type ResolvePublic = (destination: Destination) => Promise<Resolution>;

/** Maps `host` or `host:port` to the `address:port` that is dialled instead, unchecked. For tests only. */
export type DialMap = { [host: string]: string };

export type ResolverOptions = {
  dialMap?: DialMap | undefined;
  /** Looks up every A and AAAA record of a name. */
  lookup?: (hostname: string) => Promise<string[]>;
};

/** Names that are never public, whatever a resolver says: those without a dot, and those of the local network. */
const LOCAL_NAME = /^[^.]+\.?$|\.(?:localhost|local|internal)\.?$/i;
/** Names that are reserved (RFC 6761): nobody has them, whether or not a resolver answers. */
const NOBODYS_NAME = /\.(?:test|invalid)\.?$/i;

/**
 * Creates a function that returns the addresses to dial, or the reason why there are none, within RESOLVE_TIMEOUT_MS:
 * `not_public` when any address is not public, `unresolved` when there is no address, `no_answer` when DNS did not answer.
 */
export function createResolvePublic({ dialMap = {}, lookup = lookUp }: ResolverOptions = {}): ResolvePublic {
  return async function resolvePublic({ hostname, port }) {
    const dialPort = Number(port || 443);
    const mapped = [`${hostname}:${dialPort}`, hostname].find((host) => Object.hasOwn(dialMap, host));
    if (mapped !== undefined) return { targets: [parseTarget(dialMap[mapped] as string)] };

    const literal = withoutBrackets(hostname);
    if (!isIP(literal) && LOCAL_NAME.test(hostname)) return notPublic(hostname);
    if (NOBODYS_NAME.test(hostname)) return unresolved(hostname);
    const addresses = isIP(literal) ? [literal] : await lookup(hostname).catch(() => undefined);
    if (!addresses) return { problem: 'no_answer', message: `${hostname} could not be looked up` };
    const [first, ...others] = addresses;
    if (first === undefined) return unresolved(hostname);
    if (!addresses.every(isPublicAddress)) return notPublic(hostname);
    const toTarget = (address: string) => ({ address, family: familyOf(address), port: dialPort });
    return { targets: [toTarget(first), ...others.map(toTarget)] };
  };
}

function unresolved(hostname: string): Resolution {
  return { problem: 'unresolved', message: `${hostname} cannot be resolved` };
}

function notPublic(hostname: string): Resolution {
  return { problem: 'not_public', message: `${hostname} is not at a public address` };
}

/** Looks up a name by DNS alone, without this machine's hosts file and search domains. */
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

/** No such record; no such name; no name can be written so. */
const MISSING = ['ENODATA', 'ENOTFOUND', 'EBADNAME'];

/** Returns [] for a missing record, since a name may have addresses of one family only. */
function noneWhenMissing(error: NodeJS.ErrnoException): string[] {
  if (MISSING.includes(error.code ?? '')) return [];
  throw error;
}

function parseTarget(text: string): DialTarget {
  const colon = text.lastIndexOf(':');
  const address = withoutBrackets(text.slice(0, colon));
  return { address, family: familyOf(address), port: Number(text.slice(colon + 1)) };
}

/** Returns a URL's host as it is dialled: without the brackets of an IPv6 address. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function familyOf(address: string): 4 | 6 {
  return isIP(address) === 6 ? 6 : 4;
}

/** Whether `ip` is a public IPv4 or IPv6 address in its usual spelling; false for anything else, zone ids included. */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 4) return !specialIpv4.check(ip, 'ipv4');
  if (isIP(ip) === 0 || ip.includes('%')) return false;
  return publicIpv6.check(ip, 'ipv6') && !specialIpv6.check(ip, 'ipv6');
}

function listOf(family: 'ipv4' | 'ipv6', ranges: string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
