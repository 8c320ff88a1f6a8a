import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { PAIR_MAX } from '../../activities/deliveries/delivery-gate.ts';
import { reconcileDeliveries } from '../../worker/reconciler/reconcile-deliveries.ts';
import { changeDeliveries, recordDeliveries, statusIs } from '../api/webhooks/deliveries-fixture.ts';
import { answerWith, type Reaction, type Received, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { Tenant } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';
import { faultSize } from './sizes.ts';

const WAITING = 5;
const RECOVERED = faultSize(200, 1_000);
const ACTIVITY_TASK_COMPLETED = 12;

describeWith(['openssl'], 'deliveries to a receiver that hangs', () => {
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  let tenant: Tenant;
  beforeEach(async () => {
    weir = await startWebhookWeir();
    hook = weir.hooks[0] as WebhookReceiver;
    tenant = await weir.createTenant();
  });
  afterEach(() => weir.stop());

  const deps = () => ({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue });
  /** Occupies the permits of the tenant for the receiver. Returns the deliveries, and what has the receiver answer them. */
  async function occupy() {
    const { promise, resolve } = Promise.withResolvers<void>();
    hook.will(
      ...Array.from({ length: PAIR_MAX }, () => (response: ServerResponse) => {
        void promise.then(() => response.writeHead(204).end());
      }),
    );
    const arrived = hook.received.length;
    const sent = await Promise.all(Array.from({ length: PAIR_MAX }, () => weir.sendTest(tenant, hook)));
    await hook.arrived(arrived + PAIR_MAX);
    return { deliveries: sent.map(({ id }) => id as string), answer: resolve };
  }
  /** Waits until a delivery has been rescheduled. */
  const rescheduled = (id: string) =>
    waitUntil(async () => {
      const { events } = await weir.client.workflow.getHandle(id).fetchHistory();
      return (events ?? []).filter(({ eventType }) => Number(eventType) === ACTIVITY_TASK_COMPLETED).length;
    });

  const statusOf = async (id: string) => {
    const { status, attempt, attempts } = await weir.deliveryWhen(tenant, () => true, id);
    return [status, attempt, attempts.length];
  };

  it('are rescheduled, which is no attempt and changes no delay; none is lost or doubled', async () => {
    hook.will(answerWith(503));
    const { id: retried } = await weir.sendTest(tenant, hook);
    await weir.pendingAttempt(retried, 2);
    const { answer } = await occupy();
    await weir.attemptNow(retried);
    const waiting: string[] = [];
    for (let index = 0; index < WAITING; index += 1) waiting.push((await weir.sendTest(tenant, hook)).id);
    for (const id of [retried, ...waiting]) await rescheduled(id);
    assert.deepEqual(await statusOf(retried), ['failed_retry', 1, 1]);
    for (const id of waiting) assert.deepEqual(await statusOf(id), ['pending', 0, 0]);
    const failRetried: Reaction = (response, request) =>
      answerWith(idOf(request) === retried ? 503 : 204)(response, request);
    hook.will(...Array.from({ length: WAITING + 1 }, () => failRetried));
    answer();
    for (const id of waiting) await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
    const { nextAttemptAt, lastAttemptedAt } = await weir.deliveryWhen(
      tenant,
      (delivery) => delivery.status === 'failed_retry' && delivery.attempt === 2,
      retried,
    );
    const delayMinutes = (Date.parse(nextAttemptAt) - Date.parse(lastAttemptedAt)) / 60_000;
    assert.equal(Math.floor(delayMinutes), 5);
    await weir.attemptNow(retried);
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), retried)).attempt, 3);
    const arrivals = hook.received.map(idOf);
    for (const id of waiting) assert.equal(arrivals.filter((arrived) => arrived === id).length, 1, id);
    assert.equal(arrivals.filter((arrived) => arrived === retried).length, 3);
  });

  it('can be sent again or cancelled while they are rescheduled', async () => {
    const { answer } = await occupy();
    const [again, cancelled] = await Promise.all([weir.sendTest(tenant, hook), weir.sendTest(tenant, hook)]);
    await Promise.all([again, cancelled].map(({ id }) => rescheduled(id)));
    await weir.client.workflow.getHandle(cancelled.id).cancel();
    const { errorMessage } = await weir.deliveryWhen(tenant, statusIs('dead_letter'), cancelled.id);
    assert.match(errorMessage, /cancelled by an operator/);
    await weir.webhooks(tenant, 'POST', `deliveries/${again.id}/redeliver`);
    answer();
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), again.id)).attempt, 1);
    // The round before ends without an attempt.
    await weir.client.workflow.getHandle(again.id).result();
    assert.deepEqual(
      [again, cancelled].map(({ id }) => hook.received.filter((request) => idOf(request) === id).length),
      [1, 0],
    );
  });

  it('keep no other organization from the same receiver', async () => {
    const { deliveries } = await occupy();
    for (let index = 0; index < WAITING; index += 1) await weir.sendTest(tenant, hook);
    const other = await weir.createTenant();
    const { id } = await weir.sendTest(other, hook);
    await weir.deliveryWhen(other, statusIs('succeeded'), id);
    const own = hook.received.map(idOf).filter((arrived) => arrived !== id);
    assert.deepEqual(own.toSorted(), deliveries.toSorted());
  });

  it('are the share of their organization, whoever starts them', async () => {
    let answer = () => {};
    hook.will((response) => {
      answer = () => void response.writeHead(204).end();
    });
    const flow = await weir.createFlow(tenant, []);
    const executionId = await weir.startJob(tenant, flow, hook);
    await hook.arrivalsOf(executionId);
    const { id: ofRun } = await weir.deliveryWhen(tenant, () => true);
    const { id: tested } = await weir.sendTest(tenant, hook);
    await weir.deliveryWhen(tenant, statusIs('succeeded'), tested);
    await weir.webhooks(tenant, 'POST', `deliveries/${tested}/redeliver`);
    const [reconciled = '', recovered = ''] = await recordDeliveries(weir, tenant, 2);
    await changeDeliveries(weir, [reconciled], { check_at: new Date() });
    await reconcileDeliveries(deps());
    await weir.deliveryWhen(tenant, statusIs('succeeded'), reconciled);
    await changeDeliveries(weir, [recovered], { status: 'dead_letter', created_at: new Date(0) });
    await weir.webhooks(tenant, 'POST', 'recover', {
      since: '1970-01-01T00:00:00Z',
      until: '1970-01-02T00:00:00Z',
    });
    await weir.deliveryWhen(tenant, statusIs('succeeded'), recovered);
    for (const workflowId of [ofRun, tested, `${tested}-2`, reconciled, `${recovered}-2`]) {
      const { raw } = await weir.client.workflow.getHandle(workflowId).describe();
      const { fairnessKey } = raw.workflowExecutionInfo?.priority ?? {};
      assert.equal(fairnessKey, tenant.organizationId, workflowId);
      const { events } = await weir.client.workflow.getHandle(workflowId).fetchHistory();
      const scheduled = events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
      assert.deepEqual(
        scheduled?.map((activity) => activity.priority?.fairnessKey),
        [tenant.organizationId],
      );
    }
    answer();
  });

  it(`that are recovered all arrive, ${RECOVERED} of them`, async () => {
    const recorded = await recordDeliveries(weir, tenant, RECOVERED);
    await changeDeliveries(weir, recorded, { status: 'dead_letter', attempt: 6 });
    await weir.webhooks(tenant, 'POST', 'recover', { since: '1970-01-01T00:00:00Z' });
    await hook.arrived(RECOVERED);
  });
});

const idOf = ({ headers }: Received) => String(headers['x-weir-delivery']);
