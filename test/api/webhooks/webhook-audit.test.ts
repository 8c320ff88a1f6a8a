// Each request that writes has one entry in the audit log, also when the database is lost at that moment.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertTestDelivery } from '../../../db/webhooks/open-deliveries.ts';
import { loseNextCommit } from '../../db/connection/lose-commit.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const URL = 'https://hook.test/';

describe('the audit log of webhooks', () => {
  let weir: Weir;
  let tenant: Tenant;
  let id: string;
  before(async () => {
    const env = { WEIR_TEST_DIAL_MAP: JSON.stringify({ 'hook.test': '127.0.0.1:1' }) };
    weir = await startWeir({ env, worker: false });
  });
  beforeEach(async () => {
    tenant = await weir.createTenant();
    id = randomUUID();
    const { organizationId } = tenant;
    await insertTestDelivery(weir.db, { id, organizationId, event: 'flow.failed', url: URL, body: '{}' });
    await weir.db
      .updateTable('webhook_delivery')
      .set({ status: 'dead_letter' })
      .where('id', '=', id)
      .execute();
  });
  after(() => weir.stop());

  const call = (method: string, path: string, body?: unknown) =>
    weir.call(method, `/organizations/${tenant.organizationId}/webhooks/${path}`, { key: tenant.key, body });
  const entries = () =>
    weir.db
      .selectFrom('audit_entry')
      .select(['action', 'actor'])
      .where('organization_id', '=', tenant.organizationId)
      .execute();

  /** Those that may be repeated are; of the others the caller is told to look. */
  const WRITES: [number, string, string, () => string, unknown?][] = [
    [200, 'webhook_secret.create', 'GET', () => 'secret'],
    [200, 'webhook_secret.rotate', 'POST', () => 'secret/rotate'],
    [202, 'webhook_delivery.test', 'POST', () => 'test', { url: URL }],
    [503, 'webhook_delivery.redeliver', 'POST', () => `deliveries/${id}/redeliver`],
    [503, 'webhook_delivery.recover', 'POST', () => 'recover', { since: '2026-01-31T12:00:00Z' }],
  ];
  for (const [status, action, method, path, body] of WRITES)
    it(`has ${action} once when the answer to its commit is lost`, async () => {
      loseNextCommit();
      const answer = await call(method, path(), body);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.deepEqual(await entries(), [{ action, actor: `api_key/${tenant.keyId}` }]);
      const { round } = await weir.db
        .selectFrom('webhook_delivery')
        .select('round')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      assert.ok(round <= 2);
    });

  it('has one entry for the creation of the signing secret, when many ask for it at once', async () => {
    await Promise.all(Array.from({ length: 10 }, () => call('GET', 'secret')));
    assert.deepEqual(await entries(), [
      { action: 'webhook_secret.create', actor: `api_key/${tenant.keyId}` },
    ]);
  });
});
