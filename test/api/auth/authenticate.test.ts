import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { ACTIVE_API_KEYS_MAX, insertApiKey, revokeApiKey } from '../../../db/tenants/api-keys.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';

describe('API keys', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
  });
  after(() => weir.stop());

  const start = (authorization?: string) =>
    weir.call('POST', `${flow}/jobs`, {
      body: { message: '' },
      ...(authorization && { headers: { authorization } }),
    });
  const mint = async (expiresAt?: Date) => {
    const { plaintext, keyId, secretHmac } = mintApiKey('test', weir.config.apiKeyPepper);
    const key = {
      projectId: tenant.projectId,
      keyId,
      environment: 'test' as const,
      name: 'more',
      secretHmac,
    };
    await insertApiKey(weir.db, { ...key, ...(expiresAt && { expiresAt }) });
    return { plaintext, keyId };
  };

  it('accepts a key of the flow’s project', async () => {
    assert.equal((await start(`Bearer ${tenant.key}`)).status, 202);
    assert.equal((await start(`bearer ${tenant.key}`)).status, 202);
  });

  it('answers 401 UNAUTHENTICATED with WWW-Authenticate without a key', async () => {
    const answer = await start();
    assert.deepEqual([answer.status, answer.body.detail.code], [401, 'UNAUTHENTICATED']);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  });

  it('answers the same 401 for every key that is not valid', async () => {
    const [prefix, environment, keyId = '', secret = ''] = tenant.key.split('_');
    const wrong = [
      `Bearer ${prefix}_${environment}_${keyId}_${'A'.repeat(32)}`,
      `Bearer ${prefix}_${environment}_AAAAAAAA_${secret}`,
      `Bearer ${prefix}_test_${keyId}_${secret}`,
      `Bearer ${tenant.key}x`,
      `Bearer ${tenant.key} x`,
      'Bearer',
      'Bearer weir_live_',
      `Basic ${tenant.key}`,
      tenant.key,
      `Bearer ${'x'.repeat(8_000)}`,
      'Bearer eyJhbGciOiJub25lIn0.e30.',
      `Bearer ${(await mint(new Date(Date.now() - 1_000))).plaintext}`,
    ];
    const answers = await Promise.all(wrong.map(start));
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer.status, 401, wrong[index]);
      assert.deepEqual(answer.body, answers[0]?.body, wrong[index]);
    }
  });

  it('cannot reach a flow of another project', async () => {
    const other = await weir.createTenant();
    assert.equal((await start(`Bearer ${other.key}`)).status, 404);
  });

  it('refuses a revoked key at once on a process that has it cached', async () => {
    const { plaintext, keyId } = await mint();
    // The time of the cache stands still: what it has does not get old, and only a notification takes it away.
    const now = performance.now();
    mock.method(performance, 'now', () => now);
    try {
      assert.equal((await start(`Bearer ${plaintext}`)).status, 202);
      await revokeApiKey(weir.db, tenant.projectId, keyId);
      await waitUntil(async () => (await start(`Bearer ${plaintext}`)).status === 401);
    } finally {
      mock.restoreAll();
    }
  });

  it(`allows ${ACTIVE_API_KEYS_MAX} active keys per project, also when many are made at once`, async () => {
    const { projectId } = await weir.createTenant();
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, () => {
        const { keyId, secretHmac } = mintApiKey('live', weir.config.apiKeyPepper);
        return insertApiKey(weir.db, { projectId, keyId, environment: 'live', name: 'k', secretHmac });
      }),
    );
    const made = attempts.filter(({ status }) => status === 'fulfilled').length;
    assert.equal(made, ACTIVE_API_KEYS_MAX - 1);
  });
});
