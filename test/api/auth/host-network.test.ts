import assert from 'node:assert/strict';
import { hostNetwork } from '../../../api/auth/sign-in-limiter.ts';

describe('the network of a host', () => {
  const same: [string, string[]][] = [
    [
      '2001:db8:0:0',
      ['2001:db8::a', '2001:db8::b', '2001:0DB8:0:0:1::', '2001:db8::1:2:3:4', '2001:db8::a%eth0'],
    ],
    [
      '2001:db8:1:2',
      ['2001:db8:1:2:3::4', '2001:db8:1:2::', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::192.0.2.1'],
    ],
    ['0:0:0:0', ['::', '::1']],
    ['192.0.2.7', ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:207', '0:0:0:0:0:ffff:c000:207']],
    ['', ['']],
    ['unknown', ['unknown']],
  ];
  for (const [network, addresses] of same)
    for (const address of addresses)
      it(`of "${address}" is "${network}"`, () => assert.equal(hostNetwork(address), network));

  it('is another one for another /64', () => {
    assert.notEqual(hostNetwork('2001:db8:0:1::a'), hostNetwork('2001:db8::a'));
  });
});
