import assert from 'node:assert/strict';
import { statusIs } from '../api/webhooks/deliveries-fixture.ts';
import { passthrough } from '../blocks.ts';
import { answerWith, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';
import { startSetBackTemporal } from './set-back-temporal.ts';

describeWith(['openssl'], 'deliveries of a Temporal that is set back', () => {
  it('neither make an attempt again that failed since, nor the next one before it is due', async () => {
    const temporal = await startSetBackTemporal();
    const weir = await startWebhookWeir({ env: { TEMPORAL_ADDRESS: temporal.address } });
    const hook = weir.hooks[0] as WebhookReceiver;
    try {
      const tenant = await weir.createTenant();
      const flow = await weir.createFlow(tenant, [passthrough('a')]);
      const failedWith = (attempt: number) => (delivery: { attempt: number; status: string }) =>
        delivery.status === 'failed_retry' && delivery.attempt === attempt;
      hook.will(...Array.from({ length: 3 }, () => answerWith(503, 'later')));
      await weir.startJob(tenant, flow, hook);
      const { id: twice } = await weir.deliveryWhen(tenant, failedWith(1));
      await weir.pendingAttempt(twice, 2);
      await weir.stopWorker();
      await weir.startJob(tenant, flow, hook);
      await temporal.copy();

      await weir.startWorker();
      const once = await waitUntil(async () => {
        const { id, ...delivery } = await weir.deliveryWhen(tenant, () => true);
        return id !== twice && failedWith(1)(delivery) && id;
      });
      await weir.attemptNow(twice);
      await weir.deliveryWhen(tenant, failedWith(2), twice);
      await weir.stopWorker();
      await temporal.setBack();
      // Later than the worker is at work.
      const dueAt = new Date(Date.now() + 20_000);
      await weir.db
        .updateTable('webhook_delivery')
        .set({ next_attempt_at: dueAt, check_at: dueAt })
        .execute();
      await weir.pendingAttempt(twice, 2);
      await weir.startWorker();
      await weir.attemptNow(twice);
      for (const id of [once, twice]) await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const attempts = await weir.db
        .selectFrom('webhook_attempt')
        .select(['delivery_id', 'attempt', 'started_at', 'response_status'])
        .orderBy('attempt')
        .execute();
      const of = (id: string) => attempts.filter(({ delivery_id }) => delivery_id === id);
      assert.deepEqual(
        of(twice).map(({ attempt, response_status }) => [attempt, response_status]),
        [
          [1, 503],
          [2, 503],
          [3, 204],
        ],
      );
      assert.equal(of(once).length, 2);
      for (const id of [once, twice]) assert((of(id).at(-1)?.started_at ?? 0) >= dueAt, 'it came too early');
      assert.equal(hook.received.length, 5);
    } finally {
      await weir.stop();
      await temporal.stop();
    }
  });
});
