import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { reconcileDeliveries } from '../../../worker/reconciler/reconcile-deliveries.ts';
import { answerWith, type Received, type WebhookReceiver } from '../../fakes/webhook-receiver.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';
import { changeDeliveries, type Delivery, recordDeliveries, statusIs } from './deliveries-fixture.ts';

describeWith(['openssl'], 'webhook deliveries sent by hand', () => {
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  before(async () => {
    weir = await startWebhookWeir();
    hook = weir.hooks[0] as WebhookReceiver;
  });
  after(() => weir.stop());

  describe('POST …/deliveries/{id}/redeliver', () => {
    it('sends the same id and body again with a new signature, also after success', async () => {
      const tenant = await weir.createTenant();
      const { id } = await weir.sendTest(tenant, hook);
      await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const secret = await weir.rotate(tenant);
      const { status, body } = await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`);
      assert.deepEqual([status, body.id], [202, id]);
      const [first, second] = (await hook.arrivalsOf(id, 2)) as [Received, Received];
      assert.equal(second.headers['x-weir-delivery'], id);
      assert.deepEqual(second.body, first.body);
      const v1 = createHmac('sha256', secret)
        .update(`${second.headers['x-weir-timestamp']}.${second.body}`)
        .digest('hex');
      assert(String(second.headers['x-weir-signature']).includes(`v1=${v1}`));
      const delivery = await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      assert.deepEqual(
        delivery.attempts.map(({ round, attempt }: Delivery) => [round, attempt]),
        [
          [1, 1],
          [2, 1],
        ],
      );
    });

    it('leaves each attempt with the headers it was sent with, signatures included, and no secret', async () => {
      const tenant = await weir.createTenant();
      const secret = await weir.rotate(tenant);
      const { id } = await weir.sendTest(tenant, hook);
      const delivery = await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const [{ requestHeaders }] = delivery.attempts;
      const [arrival] = await hook.arrivalsOf(id);
      const { host, connection, 'content-length': length, ...arrived } = arrival?.headers ?? {};
      assert.deepEqual(
        Object.fromEntries(
          Object.entries(requestHeaders).map(([name, value]) => [name.toLowerCase(), value]),
        ),
        arrived,
      );
      assert.equal(requestHeaders['X-Weir-Delivery'], id);
      assert.ok(!JSON.stringify(delivery).includes(secret));
    });

    it('replaces the attempts still to come of the round before', async () => {
      const tenant = await weir.createTenant();
      hook.will(answerWith(503));
      const { id } = await weir.sendTest(tenant, hook);
      await weir.pendingAttempt(id, 2);
      await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`);
      await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      await weir.attemptNow(id);
      await weir.client.workflow.getHandle(id).result();
      assert.equal((await hook.arrivalsOf(id)).length, 2);
    });
  });

  describe('POST …/recover', () => {
    it('sends the failed deliveries of a period again, of one status or both', async () => {
      const tenant = await weir.createTenant();
      const [early, dead, permanent, succeeded, late] = (await recordDeliveries(weir, tenant, 5)) as [
        string,
        string,
        string,
        string,
        string,
      ];
      await changeDeliveries(weir, [early, dead, late], { status: 'dead_letter', attempt: 6 });
      await changeDeliveries(weir, [permanent], { status: 'failed_permanent', attempt: 1 });
      await changeDeliveries(weir, [succeeded], { status: 'succeeded', attempt: 1 });
      await changeDeliveries(weir, [dead, permanent, succeeded], { created_at: '2026-01-31T12:00:00Z' });
      await changeDeliveries(weir, [early], { created_at: '2026-01-31T11:59:59.999Z' });
      const recover = async (status?: string) => {
        const times = { since: '2026-01-31T12:00:00Z', until: '2026-01-31T12:00:00.001Z' };
        const answer = await weir.webhooks(tenant, 'POST', 'recover', { ...times, status });
        assert.equal(answer.status, 202);
        return answer.body;
      };
      assert.deepEqual(await recover('dead_letter'), { recovered: 1, hasMore: false, nextCursor: null });
      assert.deepEqual(await recover(), { recovered: 1, hasMore: false, nextCursor: null });
      await reconcileDeliveries({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue });
      for (const id of [dead, permanent]) await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const { body } = await weir.webhooks(tenant, 'GET', 'deliveries');
      assert.equal(body.deliveries.filter(statusIs('dead_letter')).length, 2);
    });

    for (const body of [
      {},
      { since: 'x' },
      { since: '2026-01-31T12:00:00Z', status: 'pending' },
      { since: '2026-01-31T12:00:00Z', other: 1 },
      { since: '2026-01-31T12:00:00Z', cursor: 'x' },
    ])
      it(`answers 422 to ${JSON.stringify(body)}`, async () => {
        const { status } = await weir.webhooks(await weir.createTenant(), 'POST', 'recover', body);
        assert.equal(status, 422);
      });
  });

  describe('POST …/test', () => {
    it('delivers a test event that says so', async () => {
      const tenant = await weir.createTenant();
      const { status, body } = await weir.webhooks(tenant, 'POST', 'test', {
        url: `https://${hook.host}/hook`,
        event: 'flow.failed',
      });
      assert.deepEqual([status, body.eventType], [202, 'flow.failed']);
      const [arrival] = await hook.arrivalsOf(body.id);
      const sent = JSON.parse(String(arrival?.body));
      assert.deepEqual([sent.event, sent.test, sent.failureReason], ['flow.failed', true, 'error']);
    });

    for (const body of [
      {},
      { url: 'http://example.com' },
      { url: 'https://127.0.0.1/' },
      { url: 'https://example.com/', event: 'x' },
    ])
      it(`answers 422 to ${JSON.stringify(body)}`, async () => {
        const { status } = await weir.webhooks(await weir.createTenant(), 'POST', 'test', body);
        assert.equal(status, 422);
      });
  });
});
