// Who may administer the webhooks of an organization, and what the audit log has of it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { createOrganization } from '../../organization.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';
import { recordDeliveries } from './deliveries-fixture.ts';

describeWith(['openssl'], 'webhook administration', () => {
  let provider: IdentityProvider;
  let weir: WebhookWeir;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWebhookWeir({ env: provider.env, worker: false });
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const id = randomUUID();
  const routes: [string, string][] = [
    ['GET', 'secret'],
    ['POST', 'secret/rotate'],
    ['GET', 'deliveries'],
    ['GET', `deliveries/${id}`],
    ['POST', `deliveries/${id}/redeliver`],
    ['POST', 'recover'],
    ['POST', 'test'],
  ];
  for (const [method, path] of routes)
    it(`${method} ${path.replace(id, '{id}')}: 401 without a key, the same 403 for a foreign and an unknown organization, 404 for a malformed id`, async () => {
      const [tenant, foreign] = [await weir.createTenant(), await weir.createTenant()];
      const send = (organizationId: string, key?: string) =>
        weir.call(method, `/organizations/${organizationId}/webhooks/${path}`, {
          key,
          ...(method === 'POST' && { body: {} }),
        });
      assert.equal((await send(tenant.organizationId)).status, 401);
      assert.equal((await send(tenant.organizationId, 'weir_live_x')).status, 401);
      const [known, unknown] = [
        await send(foreign.organizationId, tenant.key),
        await send(randomUUID(), tenant.key),
      ];
      assert.deepEqual([known.status, known.body.detail.code], [403, 'FORBIDDEN']);
      assert.deepEqual([unknown.status, unknown.body], [known.status, known.body]);
      for (const malformed of ['nonsense', '%00', `${id}x`])
        assert.equal((await send(malformed, tenant.key)).status, 404);
      assert.notEqual((await send(tenant.organizationId.toUpperCase(), tenant.key)).status, 403);
    });

  it('answers the same 404 for a foreign delivery, an unknown one and a malformed id', async () => {
    const [tenant, foreign] = [await weir.createTenant(), await weir.createTenant()];
    const [theirs = ''] = await recordDeliveries(weir, foreign, 1);
    for (const path of ['', '/redeliver']) {
      const method = path === '' ? 'GET' : 'POST';
      const answers = await Promise.all(
        [theirs, randomUUID(), 'nonsense', '%00'].map((one) =>
          weir.webhooks(tenant, method, `deliveries/${one}${path}`),
        ),
      );
      for (const answer of answers) assert.deepEqual([answer.status, answer.body], [404, answers[0]?.body]);
    }
    const { body } = await weir.webhooks(foreign, 'GET', `deliveries/${theirs}`);
    assert.deepEqual([body.status, body.attempts], ['pending', []]);
  });

  it('leave an entry in the audit log for each redelivery, recovery or test', async () => {
    const tenant = await weir.createTenant();
    const { id } = await weir.sendTest(tenant, weir.hooks[0] as WebhookWeir['hooks'][number]);
    const answers = [
      await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`),
      await weir.webhooks(tenant, 'POST', 'recover', { since: '2026-01-31T12:00:00Z' }),
    ];
    await weir.webhooks(tenant, 'POST', `deliveries/${randomUUID()}/redeliver`);
    const entries = await weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'action', 'resource_id', 'request_id'])
      .where('organization_id', '=', tenant.organizationId)
      .orderBy('id')
      .execute();
    assert.deepEqual(
      entries.map(({ action, resource_id }) => [action, resource_id]),
      [
        ['webhook_delivery.test', id],
        ['webhook_delivery.redeliver', id],
        ['webhook_delivery.recover', tenant.organizationId],
      ],
    );
    assert.ok(entries.every(({ actor }) => actor === `api_key/${tenant.keyId}`));
    assert.deepEqual(
      entries.slice(1).map(({ request_id }) => request_id),
      answers.map(({ headers }) => headers.get('x-request-id')),
    );
  });

  describe('roles', () => {
    it('let a user read as a member, and rotate the secret as an admin or owner', async () => {
      const about = await createOrganization(weir, provider);
      const other = await createOrganization(weir, provider);
      const expected = { member: 403, admin: 200, owner: 200 };
      for (const [role, status] of Object.entries(expected)) {
        const user = { ...about, key: about.token[role as 'member'] };
        assert.equal((await weir.webhooks(user, 'GET', 'secret')).status, 200, role);
        assert.equal((await weir.webhooks(user, 'POST', 'secret/rotate')).status, status, role);
      }
      const stranger = { ...about, key: other.token.owner };
      const foreign = await weir.webhooks(stranger, 'GET', 'secret');
      const unknown = await weir.webhooks({ ...stranger, organizationId: randomUUID() }, 'GET', 'secret');
      assert.equal(foreign.status, 403);
      assert.deepEqual(foreign.body, unknown.body);
    });

    it('let a key rotate the secret as long as the user who made it is an admin or owner', async () => {
      const about = await createOrganization(weir, provider);
      const { body: made } = await weir.call('POST', `/projects/${about.projectId}/api-keys`, {
        key: about.token.admin,
        body: { environment: 'live', name: 'rotates' },
      });
      const byKey = { ...about, key: made.key };
      const rotate = () => weir.webhooks(byKey, 'POST', 'secret/rotate');
      const organization = `/organizations/${about.organizationId}`;
      const maker = `${organization}/members/${encodeURIComponent(about.users.admin)}`;
      const key = about.token.owner;
      assert.equal((await rotate()).status, 200);
      await weir.call('PUT', maker, { key, body: { role: 'member' } });
      assert.equal((await rotate()).status, 403);
      const log = await weir.call('GET', `${organization}/audit-log`, { key });
      const [rotated] = log.body.entries.filter(
        ({ action }: { action: string }) => action === 'webhook_secret.rotate',
      );
      assert.equal(rotated.actor, `api_key/${made.keyId}`);
      await weir.call('DELETE', maker, { key });
      assert.equal((await rotate()).status, 403);
      assert.equal((await weir.webhooks(byKey, 'GET', 'secret')).status, 200);
    });
  });
});
