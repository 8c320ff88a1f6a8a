import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { PAIR_MAX } from '../../activities/deliveries/delivery-gate.ts';
import { ATTEMPTS_MAX } from '../../flow/delivery.ts';
import { statusIs } from '../api/webhooks/deliveries-fixture.ts';
import {
  answerWith,
  type Reaction,
  type Received,
  reset,
  type WebhookReceiver,
} from '../fakes/webhook-receiver.ts';
import type { Tenant } from '../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';

const MINUTE_MS = 60_000;
/** The retry policy (docs/webhooks.md, Retries). */
const GAPS_MS = [1, 5, 30, 120, 720].map((minutes) => minutes * MINUTE_MS);

describeWith(['openssl'], 'retries of a delivery', () => {
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  let tenant: Tenant;
  before(async () => {
    weir = await startWebhookWeir();
    hook = weir.hooks[0] as WebhookReceiver;
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  it('come 1 min, 5 min, 30 min, 2 h and 12 h after the failure before, whatever Retry-After says; then dead_letter', async () => {
    const received = hook.received.length;
    hook.will(
      ...Array.from({ length: ATTEMPTS_MAX }, () => answerWith(503, 'later', { 'retry-after': '7' })),
    );
    await weir.startJob(tenant, await weir.createFlow(tenant, []), hook);
    const { id } = await weir.deliveryWhen(tenant, statusIs('failed_retry'));
    for (const [index, gapMs] of GAPS_MS.entries()) {
      const made = index + 1;
      const pending = await weir.pendingAttempt(id, made + 1);
      assert.equal(Math.round(pending.gapMs / 1_000), gapMs / 1_000);
      assert.equal(pending.lastFailure, `Attempt ${made} of 6: The receiver answered 503.`);
      const delivery = await weir.deliveryWhen(tenant, statusIs('failed_retry'), id);
      assert.deepEqual([delivery.attempt, delivery.responseStatus], [made, 503]);
      await weir.attemptNow(id);
      await hook.arrived(received + made + 1);
    }
    const delivery = await weir.deliveryWhen(tenant, statusIs('dead_letter'), id);
    assert.deepEqual(
      delivery.attempts.map((attempt: { attempt: number; responseStatus: number; responseBody: string }) => [
        attempt.attempt,
        attempt.responseStatus,
        attempt.responseBody,
      ]),
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 503, 'later']),
    );
    assert.equal(delivery.nextAttemptAt, null);
    const sent = hook.received.slice(received);
    assert.deepEqual([...new Set(sent.map(({ headers }) => headers['x-weir-delivery']))], [id]);
    assert.equal(new Set(sent.map(({ body }) => body.toString())).size, 1);
    await assert.rejects(weir.client.workflow.getHandle(id).result());
  });

  const mapped: [number, string][] = [
    [200, 'succeeded'],
    [299, 'succeeded'],
    [300, 'failed_permanent'],
    [302, 'failed_permanent'],
    [400, 'failed_permanent'],
    [401, 'failed_permanent'],
    [404, 'failed_permanent'],
    [408, 'failed_retry'],
    [410, 'failed_permanent'],
    [429, 'failed_retry'],
    [499, 'failed_permanent'],
    [500, 'failed_retry'],
    [599, 'failed_retry'],
  ];
  for (const [status, outcome] of mapped)
    it(`are${outcome === 'failed_retry' ? '' : ' not'} made after ${status}: ${outcome}`, async () => {
      hook.will(answerWith(status, '', { location: `https://${hook.host}/other`, 'retry-after': '1' }));
      const received = hook.received.length;
      const { id } = await weir.sendTest(tenant, hook);
      const delivery = await weir.deliveryWhen(tenant, statusIs(outcome), id);
      assert.deepEqual([delivery.attempt, delivery.responseStatus], [1, status]);
      assert.equal(hook.received.length, received + 1);
      if (outcome !== 'failed_retry') return;
      await weir.pendingAttempt(id, 2);
      // Not while the next tests count what arrives.
      await weir.attemptNow(id);
      await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
    });

  it('are made after a connection that broke: failed_retry without a response status', async () => {
    hook.will(reset);
    const { id } = await weir.sendTest(tenant, hook);
    const delivery = await weir.deliveryWhen(tenant, statusIs('failed_retry'), id);
    assert.equal(delivery.responseStatus, null);
    assert.match(delivery.errorMessage, /no answer/);
    await weir.attemptNow(id);
    await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
  });

  it('are not made when the destination is not public by then, and nothing is sent', async () => {
    await weir.stopWorker();
    const received = hook.received.length;
    const { id } = await weir.sendTest(tenant, hook);
    const target_url = `https://127.0.0.1:${hook.port}/`;
    await weir.db.updateTable('webhook_delivery').set({ target_url }).where('id', '=', id).execute();
    await weir.startWorker();
    const delivery = await weir.deliveryWhen(tenant, statusIs('failed_permanent'), id);
    assert.match(delivery.errorMessage, /not at a public address/);
    assert.deepEqual([delivery.responseStatus, hook.received.length], [null, received]);
  });

  it('shows pending until a worker takes it, and in_flight while the receiver is thinking', async () => {
    await weir.stopWorker();
    let answer = () => {};
    hook.will((response) => {
      answer = () => void response.writeHead(204).end();
    });
    const { id, status, attempt, lastAttemptedAt } = await weir.sendTest(tenant, hook);
    assert.deepEqual([status, attempt, lastAttemptedAt], ['pending', 0, null]);
    const received = hook.received.length;
    await weir.startWorker();
    await hook.arrived(received + 1);
    const thinking = await weir.deliveryWhen(tenant, () => true, id);
    assert.deepEqual([thinking.status, thinking.attempt], ['in_flight', 1]);
    answer();
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), id)).attempt, 1);
  });

  it('are signed anew: after a rotation with both secrets while the grace lasts, then with the new one', async () => {
    const old = await weir.rotate(tenant);
    await weir.db
      .updateTable('webhook_secret')
      .set({ grace_until: null, previous_secret: null })
      .where('organization_id', '=', tenant.organizationId)
      .execute();
    const received = hook.received.length;
    hook.will(answerWith(500), answerWith(500));
    const { id } = await weir.sendTest(tenant, hook);
    await weir.pendingAttempt(id, 2);
    const fresh = await weir.rotate(tenant);
    await weir.attemptNow(id);
    await weir.pendingAttempt(id, 3);
    await weir.db
      .updateTable('webhook_secret')
      .set({ grace_until: new Date() })
      .where('organization_id', '=', tenant.organizationId)
      .execute();
    await weir.attemptNow(id);
    await weir.deliveryWhen(tenant, statusIs('succeeded'), id);

    const expected = [{ v1: old }, { v1: fresh, v2: old }, { v1: fresh }];
    for (const [index, slots] of expected.entries()) {
      const { headers, body } = hook.received[received + index] as Received;
      const signature = (secret: string) =>
        createHmac('sha256', secret).update(`${headers['x-weir-timestamp']}.`).update(body).digest('hex');
      const signed = Object.entries(slots).map(([slot, secret]) => `,${slot}=${signature(secret)}`);
      assert.equal(headers['x-weir-signature'], `t=${headers['x-weir-timestamp']}${signed.join('')}`);
      for (const secret of [old, fresh]) {
        const verify = () => new Webhook(secret).verify(body, headers as Record<string, string>);
        if (Object.values(slots).includes(secret)) verify();
        else assert.throws(verify);
      }
    }
  });

  it('does not let a destination that hangs delay another, nor another of its own organization', async () => {
    const slow = await startWebhookWeir({ receivers: 2 });
    try {
      const [hanging, healthy] = slow.hooks as [WebhookReceiver, WebhookReceiver];
      const owner = await slow.createTenant();
      let most = 0;
      let isOver = false;
      const hang: Reaction = (response) => {
        // Once the first was given up, the others follow at any time.
        if (isOver) return;
        most += 1;
        response.once('close', () => {
          isOver = true;
        });
      };
      const send = (count: number) =>
        Promise.all(Array.from({ length: count }, () => slow.sendTest(owner, hanging)));
      hanging.will(...Array.from({ length: 200 }, () => hang));
      await send(PAIR_MAX);
      await hanging.arrived(PAIR_MAX);
      await send(90);
      const { id } = await slow.sendTest(owner, healthy);
      await slow.deliveryWhen(owner, statusIs('succeeded'), id);
      assert.equal(most, PAIR_MAX);
    } finally {
      await slow.stop();
    }
  });
});
