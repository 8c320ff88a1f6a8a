import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { addTestDelivery } from '../../api/webhooks/recorded-redeliveries.ts';
import { inTransaction } from '../../db/connect.ts';
import { createNotifications, type Notifications } from '../../db/notifications.ts';
import { insertTestDelivery } from '../../db/webhooks/open-deliveries.ts';
import { awaitTurns, takeTurn } from '../../db/webhooks/webhook-turns.ts';
import { listenForWaitingDeliveries } from '../../worker/listen-for-waiting-deliveries.ts';
import { lockWaiters } from '../db/lock-waiters.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

describe('a delivery that an operator sends', () => {
  let weir: Weir;
  let tenant: Tenant;
  const ending = new AbortController();
  let notifications: Notifications;
  let hearing: Promise<void>;
  before(async () => {
    // It registers the search attributes of deliveries; no duty is performed once it has stopped.
    weir = await startWeir();
    await weir.stopWorker();
    notifications = createNotifications(weir.config.databaseUrl);
    tenant = await weir.createTenant();
  });
  after(async () => {
    ending.abort();
    await hearing;
    await notifications.close();
    await weir.stop();
  });

  /** As `weir operator deliveries test` does; returns the delivery's id. */
  async function send(): Promise<string> {
    const id = randomUUID();
    const author = { actor: 'operator', requestId: id };
    const asked = { id, organizationId: tenant.organizationId, url: 'https://example.test/' };
    await inTransaction(weir.db, async (tx) => {
      const call = await addTestDelivery(tx, author, { ...asked, event: 'flow.completed' });
      await awaitTurns(tx, [call]);
    });
    return id;
  }
  const isStarted = (id: string) =>
    weir.client.workflow
      .getHandle(id)
      .describe()
      .then(
        () => true,
        () => false,
      );

  it('begins when a worker begins to listen, and from then on at once, whenever the reconciler comes', async () => {
    const missed = await send();
    const deps = { db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue };
    hearing = listenForWaitingDeliveries(deps, notifications, ending.signal);
    await waitUntil(() => isStarted(missed));
    const heard = await send();
    await waitUntil(() => isStarted(heard));
  });

  it('begins when another finds it waiting for a turn that is free, and waits behind it', async () => {
    const [forgotten, later] = [randomUUID(), randomUUID()];
    const { organizationId } = tenant;
    const event = 'flow.completed' as const;
    const url = 'https://forgotten.test/';
    for (const id of [forgotten, later])
      await insertTestDelivery(weir.db, { id, organizationId, event, url, body: '{}' });
    const call = { round: 1, made: 0, organizationId, event, host: 'forgotten.test' };
    await weir.db
      .insertInto('webhook_turn')
      .values({
        ...{ delivery_id: forgotten, round: 1, organization_id: organizationId },
        ...{ host: call.host, has_workflow: false },
      })
      .execute();
    assert.equal(await takeTurn(weir.db, { ...call, deliveryId: later }), false);
    await waitUntil(() => isStarted(forgotten));
    await waitUntil(() => isStarted(later));
  });

  it('is no longer looked for in the database when the worker has stopped, which closes it', async () => {
    const stopping = new AbortController();
    const deps = { db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue };
    const own = createNotifications(weir.config.databaseUrl);
    const events: string[] = [];
    let stopped: Promise<unknown> | undefined;
    await inTransaction(weir.db, async (tx) => {
      await sql`lock table webhook_turn in access exclusive mode`.execute(tx);
      stopped = listenForWaitingDeliveries(deps, own, stopping.signal).then(() => events.push('stopped'));
      await lockWaiters(weir.db, 1);
      stopping.abort();
      // Whoever waits for no statement has stopped before this is answered.
      await own.close();
      events.push('looked');
    });
    await stopped;
    assert.deepEqual(events, ['looked', 'stopped']);
  });
});
