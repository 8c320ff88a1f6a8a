import assert from 'node:assert/strict';
import type { WebhookReceiver } from '../../fakes/webhook-receiver.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';
import { statusIs } from './deliveries-fixture.ts';

describeWith(['openssl'], 'webhook secrets', () => {
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  before(async () => {
    weir = await startWebhookWeir();
    hook = weir.hooks[0] as WebhookReceiver;
  });
  after(() => weir.stop());

  describe('GET …/secret', () => {
    it('creates the secret at its first use and answers its record, masked', async () => {
      const tenant = await weir.createTenant();
      const { status, body } = await weir.webhooks(tenant, 'GET', 'secret');
      assert.equal(status, 200);
      assert.match(body.secretPreview, /^whsec_[\w+/]{4}\*{12}$/);
      assert.deepEqual(body, {
        organizationId: tenant.organizationId,
        secretPreview: body.secretPreview,
        version: 1,
        createdAt: new Date(body.createdAt).toISOString(),
        rotatedAt: null,
        graceUntil: null,
      });
      assert.deepEqual((await weir.webhooks(tenant, 'GET', 'secret')).body, body);
    });

    it('creates one secret when many ask at once', async () => {
      const tenant = await weir.createTenant();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => weir.webhooks(tenant, 'GET', 'secret')),
      );
      for (const answer of answers) assert.deepEqual(answer.body, answers[0]?.body);
    });
  });

  describe('POST …/secret/rotate', () => {
    it('answers the new secret in full, and the grace period of the previous one', async () => {
      const tenant = await weir.createTenant();
      const { body: before } = await weir.webhooks(tenant, 'GET', 'secret');
      const { status, body, headers } = await weir.webhooks(tenant, 'POST', 'secret/rotate');
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.match(body.newSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.deepEqual(
        [body.previousSecretPreview, body.version, body.organizationId],
        [before.secretPreview, 2, tenant.organizationId],
      );
      assert.equal(Date.parse(body.graceUntil) - Date.parse(body.rotatedAt), 24 * 3_600_000);
      assert.deepEqual((await weir.webhooks(tenant, 'GET', 'secret')).body, {
        organizationId: tenant.organizationId,
        secretPreview: `${body.newSecret.slice(0, 10)}${'*'.repeat(12)}`,
        version: 2,
        createdAt: body.rotatedAt,
        rotatedAt: body.rotatedAt,
        graceUntil: body.graceUntil,
      });
    });

    it('creates the first secret of an organization, with no grace period', async () => {
      const { body } = await weir.webhooks(await weir.createTenant(), 'POST', 'secret/rotate');
      assert.deepEqual([body.version, body.previousSecretPreview, body.graceUntil], [1, null, null]);
    });

    it('counts every rotation when many come at once, each with a secret of its own', async () => {
      const tenant = await weir.createTenant();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => weir.webhooks(tenant, 'POST', 'secret/rotate')),
      );
      const versions = answers.map(({ body }) => body.version).sort((a, b) => a - b);
      assert.deepEqual(versions, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      const last = answers.find(({ body }) => body.version === 10);
      const { body } = await weir.webhooks(tenant, 'GET', 'secret');
      assert.equal(body.secretPreview.slice(0, 10), last?.body.newSecret.slice(0, 10));
    });

    it('leaves no grace period with grace=false, not even that of the rotation before', async () => {
      const tenant = await weir.createTenant();
      await weir.rotate(tenant);
      await weir.rotate(tenant);
      const { secretPreview } = (await weir.webhooks(tenant, 'GET', 'secret')).body;
      const { status, body } = await weir.webhooks(tenant, 'POST', 'secret/rotate?grace=false');
      assert.deepEqual(
        [status, body.version, body.graceUntil, body.previousSecretPreview],
        [200, 3, null, secretPreview],
      );
      const { id } = await weir.sendTest(tenant, hook);
      const sent = await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      assert.equal(JSON.parse(sent.requestBody).test, true);
      const [request] = await hook.arrivalsOf(id);
      assert.doesNotMatch(String(request?.headers['x-weir-signature']), /v2=/);
      assert.equal(request?.body.toString(), sent.requestBody);
      for (const query of ['grace=no', 'grace=', 'hours=0'])
        assert.equal((await weir.webhooks(tenant, 'POST', `secret/rotate?${query}`)).status, 422, query);
    });

    it('ends the grace period after 24 hours', async () => {
      const tenant = await weir.createTenant();
      await weir.rotate(tenant);
      await weir.rotate(tenant);
      await weir.db
        .updateTable('webhook_secret')
        .set({ grace_until: new Date() })
        .where('organization_id', '=', tenant.organizationId)
        .execute();
      assert.equal((await weir.webhooks(tenant, 'GET', 'secret')).body.graceUntil, null);
    });

    it('leaves no secret readable in the database, nor in the histories of deliveries', async () => {
      const tenant = await weir.createTenant();
      const secrets = [await weir.rotate(tenant), await weir.rotate(tenant)];
      const { id } = await weir.sendTest(tenant, hook);
      await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const history = await weir.client.workflow.getHandle(id).fetchHistory();
      const rows = await weir.db.selectFrom('webhook_secret').selectAll().execute();
      const stored = JSON.stringify(rows) + JSON.stringify(history);
      for (const secret of secrets) {
        const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
        for (const form of [secret, bytes.toString('base64'), bytes.toString('hex')])
          assert(!stored.includes(form));
      }
    });
  });
});
