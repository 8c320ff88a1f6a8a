import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ACTIVE_API_KEYS_MAX } from '../../../db/tenants/api-keys.ts';
import { waitUntil } from '../../wait-until.ts';
import { code, useManagement } from './management-harness.ts';

describe('API keys', () => {
  const { management, call } = useManagement();

  const path = () => `/projects/${management.acme.projectId}/api-keys`;
  const create = (more: object = {}) => call('POST', path(), { environment: 'live', name: 'k', ...more });

  it('are shown in full once, work until they are revoked, and show when they were last used', async () => {
    const flow = await management.weir.createFlow(management.acme, []);
    const { status, body } = await create();
    assert.equal(status, 201);
    assert.match(body.key, new RegExp(`^weir_live_${body.keyId}_`));
    const use = () => management.weir.call('POST', `${flow}/jobs`, { key: body.key, body: { message: '' } });
    assert.equal((await use()).status, 202);
    const find = async () => {
      const list = await call('GET', path());
      assert.ok(!JSON.stringify(list.body).includes(body.key.split('_')[3]));
      return list.body.apiKeys.find(({ keyId }: { keyId: string }) => keyId === body.keyId);
    };
    await waitUntil(async () => (await find()).lastUsedAt !== null);
    assert.deepEqual(
      [(await find()).createdBy, (await find()).state],
      [management.acme.users.owner, 'active'],
    );
    assert.equal((await call('DELETE', `${path()}/%00${body.keyId}`)).status, 404);
    const revoked = await call('DELETE', `${path()}/${body.keyId}`);
    assert.deepEqual([revoked.status, revoked.body.state], [200, 'revoked']);
    await waitUntil(async () => (await use()).status === 401);
    assert.deepEqual((await call('DELETE', `${path()}/${body.keyId}`)).body, revoked.body);
  });

  it(`are ${ACTIVE_API_KEYS_MAX} active at most, without expired and revoked ones`, async () => {
    const made = await Promise.all(Array.from({ length: ACTIVE_API_KEYS_MAX + 3 }, () => create()));
    assert.equal(made.filter(({ status }) => status === 201).length, ACTIVE_API_KEYS_MAX - 1);
    assert.deepEqual(code(await create()), [409, 'CONFLICT']);
    const { keyId } = made.find(({ status }) => status === 201)?.body ?? {};
    await call('DELETE', `${path()}/${keyId}`);
    assert.equal((await create()).status, 201);
  });

  it('may run flows and administer webhooks unless scopes are named, and show their scopes', async () => {
    assert.deepEqual((await create()).body.scopes, ['run', 'webhooks']);
    const named = await create({ scopes: ['deploy', 'read', 'deploy'] });
    assert.deepEqual(named.body.scopes, ['read', 'deploy']);
    const { apiKeys } = (await call('GET', path())).body;
    const find = (keyId: string) => apiKeys.find((one: { keyId: string }) => one.keyId === keyId);
    assert.deepEqual(find(named.body.keyId).scopes, ['read', 'deploy']);
    assert.deepEqual(find(management.acme.keyId).scopes, ['run', 'webhooks']);
  });

  it('expire at the begin of a date in UTC, or at a time', async () => {
    const expiresAt = async (expires_at: string) => (await create({ expires_at })).body.expiresAt;
    assert.equal(await expiresAt('2099-01-31'), '2099-01-31T00:00:00.000Z');
    assert.equal(await expiresAt('2099-01-31T12:00:00+02:00'), '2099-01-31T10:00:00.000Z');
  });

  for (const [what, fields] of Object.entries({
    'a scope that is none': { scopes: ['run', 'manage'] },
    'no scope at all': { scopes: [] },
    'very many scopes': { scopes: Array(300_000).fill('x') },
    'an environment that is none': { environment: 'prod' },
    'an expiry in the past': { expires_at: '2020-01-01T00:00:00Z' },
    'an expiry that is not a time': { expires_at: 'tomorrow' },
    'an expiry that only its offset puts after the year 9999': { expires_at: '9999-12-31T23:59:59-12:00' },
    'a key of its own choice': { key_id: 'AAAAAAAA' },
    'another project': { project_id: randomUUID() },
    'a creator': { created_by: 'x' },
  }))
    it(`refuse ${what} with 422`, async () => {
      assert.deepEqual(code(await create(fields)), [422, 'VALIDATION_ERROR']);
    });
});
