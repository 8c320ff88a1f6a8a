import assert from 'node:assert/strict';
import { WorkflowNotFoundError } from '@temporalio/client';
import { PAIR_MAX } from '../../db/webhooks/webhook-turns.ts';
import { reconcileDeliveries } from '../../worker/reconciler/reconcile-deliveries.ts';
import { startWaitingDeliveries } from '../../worker/reconciler/start-waiting-deliveries.ts';
import { changeDeliveries, recordDeliveries, statusIs } from '../api/webhooks/deliveries-fixture.ts';
import { answerWith, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { Tenant } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';
import { faultSize } from './sizes.ts';

const WAITING = 20;
const RECOVERED = faultSize(200, 1_000);

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
  const inAnHour = () => new Date(Date.now() + 3_600_000);
  const recordTurns = async (deliveries: string[], held_until: Date | null) => {
    await changeDeliveries(weir, deliveries, { check_at: inAnHour() });
    const turn = {
      round: 1,
      organization_id: tenant.organizationId,
      host: hook.host,
      held_until,
      has_workflow: false,
    };
    const rows = deliveries.map((delivery_id) => ({ ...turn, delivery_id }));
    await weir.db.insertInto('webhook_turn').values(rows).execute();
  };
  /** Has all that may be under way there of this tenant be so for as long as the test takes: a request would be given up. */
  const occupy = async () => {
    const deliveries = await recordDeliveries(weir, tenant, PAIR_MAX);
    await recordTurns(deliveries, inAnHour());
    return deliveries;
  };
  /** Ends one of those, as if its process had died. */
  const endOne = async ([delivery]: string[]) => {
    await weir.db
      .deleteFrom('webhook_turn')
      .where('delivery_id', '=', delivery ?? '')
      .execute();
    await startWaitingDeliveries(deps());
  };
  const hasWorkflow = async (id: string) => {
    try {
      await weir.client.workflow.getHandle(id).describe();
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };
  const eventTypes = async (id: string) => {
    const { events } = await weir.client.workflow.getHandle(id).fetchHistory();
    return (events ?? []).map(({ eventType }) => Number(eventType));
  };

  it('that wait for their first attempt have no workflow; each begins when one ends', async () => {
    const occupying = await occupy();
    const waiting: string[] = [];
    for (let index = 0; index < WAITING; index += 1) waiting.push((await weir.sendTest(tenant, hook)).id);
    const job = await weir.startJob(tenant, await weir.createFlow(tenant, []), hook);
    await weir.client.workflow.getHandle(job).result();
    waiting.push((await weir.deliveryWhen(tenant, () => true)).id);
    assert.deepEqual(
      await Promise.all(waiting.map(hasWorkflow)),
      waiting.map(() => false),
    );
    // Looking for what was missed finds nothing.
    await reconcileDeliveries(deps());
    await startWaitingDeliveries(deps());
    assert.deepEqual(
      await Promise.all(waiting.map(hasWorkflow)),
      waiting.map(() => false),
    );
    await endOne(occupying);
    for (const id of waiting) await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
  });

  it('that wait for another attempt have no timer; they are told when it is their turn', async () => {
    hook.will(answerWith(503));
    const { id } = await weir.sendTest(tenant, hook);
    await weir.pendingAttempt(id, 2);
    const occupying = await occupy();
    await weir.attemptNow(id);
    const TIMER_STARTED = 17;
    await waitUntil(
      async () => (await eventTypes(id)).filter((type) => type === WORKFLOW_TASK_COMPLETED).length >= 2,
    );
    assert.equal((await eventTypes(id)).includes(TIMER_STARTED), false);
    const delivery = await weir.deliveryWhen(tenant, () => true, id);
    assert.deepEqual([delivery.status, delivery.attempt], ['failed_retry', 1]);
    await endOne(occupying);
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), id)).attempt, 2);
  });

  it('that were given their turn are told once more when whoever gave it died before', async () => {
    hook.will(answerWith(503));
    const { id } = await weir.sendTest(tenant, hook);
    await weir.pendingAttempt(id, 2);
    await occupy();
    await weir.attemptNow(id);
    const turn = () => weir.db.selectFrom('webhook_turn').selectAll().where('delivery_id', '=', id);
    await waitUntil(async () => (await turn().executeTakeFirst())?.held_until === null);
    await weir.db
      .updateTable('webhook_turn')
      .set({ held_until: new Date(Date.now() + 120_000) })
      .where('delivery_id', '=', id)
      .execute();
    await changeDeliveries(weir, [id], { check_at: new Date() });
    await reconcileDeliveries(deps());
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), id)).attempt, 2);
    assert.equal(hook.received.length, 2);
  });

  it('keep no other organization from the same receiver', async () => {
    await occupy();
    for (let index = 0; index < WAITING; index += 1) await weir.sendTest(tenant, hook);
    const other = await weir.createTenant();
    const { id } = await weir.sendTest(other, hook);
    await weir.deliveryWhen(other, statusIs('succeeded'), id);
    assert.equal(hook.received.length, 1);
  });

  it('begin by themselves when the process died that was to begin them', async () => {
    const recorded = await recordDeliveries(weir, tenant, WAITING);
    await recordTurns(recorded, null);
    await startWaitingDeliveries(deps());
    for (const id of recorded) await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
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
    }
    answer();
  });

  it(`that are recovered begin at once, ${RECOVERED} of them`, async () => {
    const recorded = await recordDeliveries(weir, tenant, RECOVERED);
    await changeDeliveries(weir, recorded, { status: 'dead_letter', attempt: 6 });
    await weir.webhooks(tenant, 'POST', 'recover', { since: '1970-01-01T00:00:00Z' });
    // Nobody reconciles: what is under way, and what follows it, brings them all.
    await hook.arrived(RECOVERED);
  });
});

const WORKFLOW_TASK_COMPLETED = 7;
