import { isIPv6 } from 'node:net';

const GROUPS = 8;
const NETWORK_GROUPS = 4;
const MAPPED = '0:0:0:0:0:ffff';

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
