import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { parseHttpsUrl } from '../../../platform/net/parse-https-url.ts';
import { createResolvePublic, type ResolverOptions } from '../../../platform/net/resolve-public.ts';
import { SERVFAIL, startFakeDnsServer } from '../../fakes/dns-server.ts';

describe('createResolvePublic', () => {
  /** Resolves the host of `text`, the URL gate first; no name is looked up in the network. */
  function resolve(text: string, options: ResolverOptions = { lookup: notAsked }) {
    const { url } = parseHttpsUrl(text);
    assert.ok(url, text);
    return createResolvePublic(options)(url);
  }
  const answering = (addresses: string[]) => ({ lookup: async () => addresses });

  it('answers every address of a public host, with the port', async () => {
    assert.deepEqual(await resolve('https://images.example:8443/', answering(['8.8.8.8', '2606:4700::1'])), {
      targets: [
        { address: '8.8.8.8', family: 4, port: 8443 },
        { address: '2606:4700::1', family: 6, port: 8443 },
      ],
    });
  });

  it('takes a public address as a host, at port 443, without a look-up', async () => {
    assert.deepEqual(await resolve('https://8.8.8.8/'), {
      targets: [{ address: '8.8.8.8', family: 4, port: 443 }],
    });
    assert.deepEqual(await resolve('https://[2606:4700::1]/'), {
      targets: [{ address: '2606:4700::1', family: 6, port: 443 }],
    });
  });

  const literals = [
    ...['127.0.0.1', '2130706433', '0x7f.1', '0x7f000001', '017700000001', '127.1', '0', '127.0.0.1.'],
    ...['169.254.169.254', '10.0.0.1', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:8.8.8.8]'],
    ...['[64:ff9b::7f00:1]', '[fd00::1]', '[fe80::1]', '[2002:7f00:1::]', '①②⑦.⓪.⓪.①'],
  ];
  for (const host of [
    ...literals,
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'a.localhost',
      'printer',
      'printer.local',
      'metadata.google.internal',
    ],
  ])
    it(`refuses ${host} without a look-up`, async () =>
      assert.equal((await resolve(`https://${host}/`)).problem, 'not_public'));

  for (const addresses of [
    ['8.8.8.8', '127.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '::1'],
    ['8.8.8.8', '::ffff:8.8.8.8'],
    ['8.8.8.8', 'no address'],
  ])
    it(`refuses a host that is at ${addresses.join(' and ')}`, async () =>
      assert.equal(
        (await resolve('https://rebinding.example/', answering(addresses))).problem,
        'not_public',
      ));

  it('looks a host up anew each time: one that was public is refused once it is not', async () => {
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    const resolvePublic = createResolvePublic({ lookup: async () => answers.shift() as string[] });
    const host = { hostname: 'rebinding.example', port: '' };
    assert.ok((await resolvePublic(host)).targets);
    assert.equal((await resolvePublic(host)).problem, 'not_public');
  });

  it('says that a host cannot be resolved, or that DNS did not say, which is not the same as not public', async () => {
    const failing = { lookup: () => Promise.reject(new Error('SERVFAIL')) };
    assert.equal((await resolve('https://images.example/', answering([]))).problem, 'unresolved');
    assert.equal((await resolve('https://images.example/', failing)).problem, 'no_answer');
  });

  for (const host of ['hooks.test', 'hooks.invalid', 'HOOKS.INVALID.'])
    it(`does not look up ${host}, which nobody can have`, async () =>
      assert.equal((await resolve(`https://${host}/`)).problem, 'unresolved'));

  it('dials what the dial map says, by host and port or by host, and no other host', async () => {
    const dialMap = { 'hooks.example': '127.0.0.1:9001', 'hooks.example:8443': '[::1]:9002' };
    const options = { dialMap, lookup: async () => ['10.0.0.1'] };
    assert.deepEqual((await resolve('https://hooks.example/', options)).targets, [
      { address: '127.0.0.1', family: 4, port: 9001 },
    ]);
    assert.deepEqual((await resolve('https://hooks.example:8443/', options)).targets, [
      { address: '::1', family: 6, port: 9002 },
    ]);
    assert.equal((await resolve('https://other.example/', options)).problem, 'not_public');
    assert.equal((await resolve('https://constructor/', options)).problem, 'not_public');
  });

  describe('by DNS', () => {
    const original: (hostname: string) => Promise<string[]> = Resolver.prototype.resolve4;
    let dns: Awaited<ReturnType<typeof startFakeDnsServer>>;
    const PUBLIC = [8, 8, 8, 8];
    const PUBLIC_IPV6 = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    const LOOPBACK_IPV6 = [...Array(15).fill(0), 1];
    before(async () => {
      dns = await startFakeDnsServer({
        'both.example': { a: [PUBLIC], aaaa: [PUBLIC_IPV6] },
        'one.example': { a: [PUBLIC], aaaa: [] },
        'other.example': { a: [], aaaa: [PUBLIC_IPV6] },
        'mixed.example': { a: [PUBLIC, [10, 0, 0, 1]], aaaa: [] },
        'hidden.example': { a: [PUBLIC], aaaa: [LOOPBACK_IPV6] },
        'half.example': { a: [PUBLIC], aaaa: SERVFAIL },
        'nothing.example': { a: [], aaaa: [] },
        'silent.example': { a: [PUBLIC], aaaa: 'silence' },
      });
      // Every resolver asks this server, whatever the machine is set up with.
      Resolver.prototype.resolve4 = function (this: Resolver, hostname: string) {
        this.setServers([dns.address]);
        return original.call(this, hostname);
      } as typeof Resolver.prototype.resolve4;
    });
    after(() => {
      Resolver.prototype.resolve4 = original as typeof Resolver.prototype.resolve4;
      dns.close();
    });

    const table: [string, string[] | string][] = [
      ['both.example', ['8.8.8.8', '2606:4700::1']],
      ['one.example', ['8.8.8.8']],
      ['other.example', ['2606:4700::1']],
      ['mixed.example', 'not_public'],
      ['hidden.example', 'not_public'],
      ['half.example', 'no_answer'],
      ['nothing.example', 'unresolved'],
      ['unknown.example', 'unresolved'],
      [`${'a'.repeat(64)}.example`, 'unresolved'],
      // Ends at the time limit of the look-up.
      ['silent.example', 'no_answer'],
    ];
    for (const [hostname, expected] of table)
      it(`answers ${expected} for ${hostname}`, async () => {
        const { targets, problem } = await createResolvePublic()({ hostname, port: '' });
        assert.deepEqual(problem ?? targets?.map(({ address }) => address), expected);
      });
  });
});

async function notAsked(hostname: string): Promise<string[]> {
  assert.fail(`${hostname} was looked up`);
}
