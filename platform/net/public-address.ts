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
