import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createTokenVerifier } from '../../../api/auth/verify-token.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import {
  AUDIENCE,
  type IdentityProvider,
  MCP_AUDIENCE,
  startIdentityProvider,
} from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

describe("JWTs and their provider's keys", () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let flow: string;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ env: provider.env, worker: false });
    const tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
    await insertMember(weir.db, { organizationId: tenant.organizationId, userId: 'member', role: 'member' });
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const start = (key: string) => weir.call('POST', `${flow}/jobs`, { key, body: { message: '' } });

  it('do not each cost a request to the provider, whatever their kid', async () => {
    assert.equal((await start(await provider.token('member'))).status, 202);
    const before = provider.jwksRequests();
    // They all come within the time in which the provider is not asked again.
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const tokens = Array.from({ length: 20 }, (_, index) =>
      provider.token('member', {}, { kid: `kid-${index}` }),
    );
    const answers = await Promise.all(tokens.map(async (token) => start(await token)));
    mock.timers.reset();
    assert.ok(answers.every(({ status }) => status === 401));
    assert.ok(provider.jwksRequests() - before <= 1);
  });

  it('of a new key of the provider are accepted within seconds, and those of the key it replaces no more', async () => {
    const before = await provider.token('member');
    assert.equal((await start(before)).status, 202);
    await provider.rotateKey();
    const after = await provider.token('member');
    await waitUntil(async () => (await start(after)).status === 202);
    assert.equal((await start(before)).status, 401);
  });

  it('are accepted again within seconds after the provider served unusable keys', async () => {
    const mended = await startIdentityProvider();
    const verifier = createTokenVerifier({
      oidc: { issuer: mended.issuer, audience: AUDIENCE, mcpAudience: MCP_AUDIENCE },
    });
    try {
      await mended.rotateKey({ x: '?' });
      await assert.rejects(verifier.verify(await mended.token('member'), [AUDIENCE]), {
        code: 'IDENTITY_PROVIDER_UNAVAILABLE',
      });
      await mended.rotateKey();
      const token = await mended.token('member');
      await waitUntil(() => verifier.verify(token, [AUDIENCE]).catch(() => undefined));
    } finally {
      await mended.close();
    }
  });

  it('are accepted while the provider is away, or serves no keys; one with an unknown kid fails alone', async () => {
    const away = await startIdentityProvider();
    const oidc = { issuer: away.issuer, audience: AUDIENCE, mcpAudience: MCP_AUDIENCE };
    const verifier = createTokenVerifier({ oidc });
    const { now } = performance;
    let passed = 0;
    performance.now = () => now.call(performance) + passed;
    try {
      const token = await away.token('member');
      const unknown = await away.token('member', {}, { kid: 'unknown' });
      const mayEnter = async () => (await verifier.verify(token, [AUDIENCE]))?.userId;
      assert.equal(await mayEnter(), 'member');
      assert.equal(await verifier.verify(unknown, [AUDIENCE]), undefined);
      await away.rotateKey({ x: '?' });
      passed += 3_000;
      const unavailable = { code: 'IDENTITY_PROVIDER_UNAVAILABLE' };
      await assert.rejects(verifier.verify(unknown, [AUDIENCE]), unavailable);
      assert.equal(await mayEnter(), 'member');
      await away.close();
      // Longer than keys are taken for fresh.
      for (const minutes of [11, 11]) {
        passed += minutes * 60_000;
        assert.equal(await mayEnter(), 'member');
        await assert.rejects(verifier.verify(unknown, [AUDIENCE]), unavailable);
      }
      passed += 24 * 60 * 60_000;
      await assert.rejects(mayEnter(), unavailable);
    } finally {
      performance.now = now;
    }
  });

  it('answer 503 with Retry-After while the provider is away, which does not affect API keys', async () => {
    const gone = await startIdentityProvider();
    const orphan = await startWeir({ env: gone.env, worker: false });
    try {
      const token = await gone.token('member');
      await gone.close();
      const answer = await orphan.call('GET', 'a/b/c/jobs/d', { key: token });
      assert.deepEqual([answer.status, answer.body.detail.code], [503, 'IDENTITY_PROVIDER_UNAVAILABLE']);
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
      const { key } = await orphan.createTenant();
      assert.equal((await orphan.call('GET', 'a/b/c/jobs/d', { key })).status, 404);
    } finally {
      await orphan.stop();
    }
  });
});
