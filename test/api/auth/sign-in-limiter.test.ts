import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { createSignInLimiter } from '../../../api/auth/sign-in-limiter.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { startWeir } from '../../harness.ts';

const PER_MINUTE = 3;

describe('failed authentication', () => {
  const from = (address: string, forwarded?: string) =>
    ({
      headers: { 'x-forwarded-for': forwarded },
      socket: { remoteAddress: address },
    }) as unknown as IncomingMessage;
  /** The code that credentials are answered with; those that begin with `good` are valid. */
  async function attempt(
    signInLimiter: ReturnType<typeof createSignInLimiter>,
    credentials: string,
    request = from('192.0.2.1'),
    problem = new ServiceError('UNAUTHENTICATED', 'no'),
  ): Promise<string> {
    const verify = async () => {
      if (!credentials.startsWith('good')) throw problem;
      return 'in';
    };
    return signInLimiter.check(request, verify).catch((error: ServiceError) => error.code);
  }
  async function exhaust(signInLimiter: ReturnType<typeof createSignInLimiter>, request = from('192.0.2.1')) {
    for (let index = 0; index < PER_MINUTE; index += 1)
      assert.equal(await attempt(signInLimiter, `bad ${index}`, request), 'UNAUTHENTICATED');
  }

  it('is answered 429 once an address has had its failures', async () => {
    const signInLimiter = createSignInLimiter({ perMinute: PER_MINUTE, proxies: 0 });
    await exhaust(signInLimiter);
    const metrics = captureMetrics();
    assert.equal(await attempt(signInLimiter, 'bad'), 'RATE_LIMITED');
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=sign_in'], 1);
    metrics.stop();
  });

  it('never limits credentials that are valid, new ones too, until they are wrong', async () => {
    const signInLimiter = createSignInLimiter({ perMinute: PER_MINUTE, proxies: 0 });
    await exhaust(signInLimiter);
    assert.equal(await attempt(signInLimiter, 'good'), 'in');
    assert.equal(await attempt(signInLimiter, 'bad'), 'RATE_LIMITED');
    assert.equal(await attempt(signInLimiter, 'good too'), 'in');
  });

  it('does not hold up other addresses', async () => {
    const signInLimiter = createSignInLimiter({ perMinute: PER_MINUTE, proxies: 0 });
    await exhaust(signInLimiter);
    assert.equal(await attempt(signInLimiter, 'bad', from('192.0.2.2')), 'UNAUTHENTICATED');
  });

  it('counts the addresses of one IPv6 network as one, and those of IPv4 in IPv6 each', async () => {
    const signInLimiter = createSignInLimiter({ perMinute: PER_MINUTE, proxies: 0 });
    await exhaust(signInLimiter, from('2001:db8:1:2:3::4'));
    assert.equal(await attempt(signInLimiter, 'bad', from('2001:db8:1:2:9::9')), 'RATE_LIMITED');
    await exhaust(signInLimiter, from('2001:db8::a'));
    assert.equal(await attempt(signInLimiter, 'bad', from('2001:db8::b')), 'RATE_LIMITED');
    await exhaust(signInLimiter, from('::ffff:192.0.2.7'));
    assert.equal(await attempt(signInLimiter, 'bad', from('::ffff:192.0.2.8')), 'UNAUTHENTICATED');
  });

  it('does not count failures that the credentials did not cause', async () => {
    const signInLimiter = createSignInLimiter({ perMinute: PER_MINUTE, proxies: 0 });
    const away = new ServiceError('IDENTITY_PROVIDER_UNAVAILABLE', 'away');
    for (let index = 0; index < 10; index += 1)
      assert.equal(await attempt(signInLimiter, 'bad', undefined, away), 'IDENTITY_PROVIDER_UNAVAILABLE');
  });

  it('takes the address from the configured proxies, and from nobody else', async () => {
    const behind = createSignInLimiter({ perMinute: PER_MINUTE, proxies: 1 });
    await exhaust(behind, from('10.0.0.1', '1.1.1.1, 198.51.100.1'));
    assert.equal(await attempt(behind, 'bad', from('10.0.0.1', '2.2.2.2, 198.51.100.1')), 'RATE_LIMITED');
    assert.equal(await attempt(behind, 'bad', from('10.0.0.1', '198.51.100.2')), 'UNAUTHENTICATED');
    const bare = createSignInLimiter({ perMinute: PER_MINUTE, proxies: 0 });
    await exhaust(bare, from('192.0.2.1', '198.51.100.1'));
    assert.equal(await attempt(bare, 'bad', from('192.0.2.1', '198.51.100.2')), 'RATE_LIMITED');
  });

  it('is answered 429 over HTTP, for keys and tokens, while keys that work go on, new ones too', async () => {
    const weir = await startWeir({ worker: false, env: { WEIR_FAILED_SIGN_INS: String(PER_MINUTE) } });
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, []);
    const list = (key: string) => weir.call('GET', `${flow}/runs`, { key });
    const statuses = [];
    for (let index = 0; index < PER_MINUTE + 2; index += 1)
      statuses.push((await list(`weir_live_AAAAAAA${index}_${'B'.repeat(32)}`)).status);
    assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
    const refused = await list('a.token.of-nobody');
    assert.deepEqual([refused.status, refused.body.detail.code], [429, 'RATE_LIMITED']);
    assert(Number(refused.headers.get('retry-after')) >= 1);
    assert.equal((await list(tenant.key)).status, 200);
    await weir.stop();
  });
});
