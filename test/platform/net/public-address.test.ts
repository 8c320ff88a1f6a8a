import assert from 'node:assert/strict';
import { isPublicAddress } from '../../../platform/net/resolve-public.ts';

/** The first and last address of each special range, and what comes right before and after where that is public. */
const SPECIAL = [
  '0.0.0.0 0.255.255.255',
  '10.0.0.0 10.255.255.255',
  '100.64.0.0 100.127.255.255',
  '127.0.0.0 127.0.0.1 127.255.255.255',
  '169.254.0.0 169.254.169.254 169.254.255.255',
  '172.16.0.0 172.31.255.255',
  '192.0.0.0 192.0.0.255',
  '192.0.2.0 192.0.2.255',
  '192.31.196.0 192.31.196.255',
  '192.52.193.0 192.52.193.255',
  '192.88.99.0 192.88.99.255',
  '192.168.0.0 192.168.255.255',
  '192.175.48.0 192.175.48.255',
  '198.18.0.0 198.19.255.255',
  '198.51.100.0 198.51.100.255',
  '203.0.113.0 203.0.113.255',
  '224.0.0.0 239.255.255.255',
  '240.0.0.0 255.255.255.255',
  '168.63.129.16',
  ':: ::1 0:0:0:0:0:0:0:1 ::7f00:1 ::127.0.0.1',
  '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8',
  '64:ff9b::8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1',
  '100::1 5f00::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000::1',
  '2001::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8::1 2001:0DB8:0:0:0:0:0:1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  '2002:: 2002:7f00:1::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2620:4f:8000::1 2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
  'fc00::1 fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1',
  '2606:4700::1111%eth0 2606:4700::1111%0',
];
const PUBLIC = [
  '1.0.0.0 9.255.255.255 11.0.0.0',
  '100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0',
  '169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0',
  '192.0.1.255 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0',
  '192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0',
  '198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255',
  '168.63.129.15 168.63.129.17 8.8.8.8 1.1.1.1',
  '2000::1 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: 2001:4860:4860::8888',
  '2001:db7:ffff::1 2001:db9::1 2001:ffff::1 2003::1 2606:4700:4700::1111 2606:4700:4700:0:0:0:0:1111',
  '2620:4f:7fff:ffff::1 2620:4f:8001::1 3ffe:ffff::1 3fff:1000::1',
];
const NO_ADDRESS = [
  '',
  ' ',
  'localhost',
  '2130706433',
  '0x7f.1',
  '010.0.0.1',
  '8.8.8.8 ',
  '8.8.8',
  '8.8.8.8.',
  '[2606:4700::1111]',
  '::ffff:8.8.8.256',
  '8.8.8.8\0',
  '８.8.8.8',
];

describe('isPublicAddress', () => {
  for (const ip of SPECIAL.flatMap((line) => line.split(' ')))
    it(`refuses ${ip}`, () => assert.equal(isPublicAddress(ip), false));
  for (const ip of PUBLIC.flatMap((line) => line.split(' ')))
    it(`takes ${ip}`, () => assert.equal(isPublicAddress(ip), true));
  for (const text of NO_ADDRESS)
    it(`refuses ${JSON.stringify(text)}, which is not an address`, () =>
      assert.equal(isPublicAddress(text), false));
});
