import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { reconcileDeliveries } from '../../../worker/reconciler/reconcile-deliveries.ts';
import {
  changeDeliveries,
  type Delivery,
  recordDeliveries,
  statusIs,
} from '../../api/webhooks/deliveries-fixture.ts';
import { answerWith, type WebhookReceiver } from '../../fakes/webhook-receiver.ts';
import type { Tenant } from '../../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';
import { fail, weirIn } from '../cli-harness.ts';

describeWith(['openssl'], 'weir operator deliveries', () => {
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  let tenant: Tenant;
  before(async () => {
    weir = await startWebhookWeir();
    hook = weir.hooks[0] as WebhookReceiver;
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const run = (...args: string[]) => weirIn({ DATABASE_URL: weir.config.databaseUrl }, ['operator', ...args]);
  async function succeed(command: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run('deliveries', command, tenant.organization, ...args);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const succeedJson = async (...args: [string, ...string[]]) => JSON.parse(await succeed(...args, '--json'));
  /** Does what a worker does within a minute. */
  async function reconcile(...ids: string[]): Promise<void> {
    await changeDeliveries(weir, ids, { check_at: new Date() });
    await reconcileDeliveries({ ...weir, taskQueue: weir.config.taskQueue });
  }
  const lastAuditEntry = () =>
    weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'action', 'resource_id'])
      .where('organization_id', '=', tenant.organizationId)
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirst();

  it('lists and shows a delivery as the API does, and sends it again', async () => {
    const flow = await weir.createFlow(tenant, []);
    hook.will(answerWith(404, 'no such hook'));
    const executionId = await weir.startJob(tenant, flow, hook);
    const { id } = await weir.deliveryWhen(tenant, statusIs('failed_permanent'));

    const { body } = await weir.webhooks(tenant, 'GET', `deliveries/${id}`);
    assert.deepEqual(await succeedJson('show', id), body);
    assert.match(
      await succeed('show', id),
      /1 +1 .* 404 +The receiver answered 404\.[\s\S]*Body: \{"event":/,
    );
    const [listed] = await succeedJson('list', '--status', 'failed_permanent', '--run', executionId);
    assert.deepEqual([listed.id, listed.executionId], [id, executionId]);
    assert.match(
      await succeed('list'),
      new RegExp(`${id} +flow.completed +${executionId} +failed_permanent`),
    );
    assert.deepEqual(await succeedJson('list', '--event', 'flow.failed'), []);

    await succeed('redeliver', id);
    assert.deepEqual(await lastAuditEntry(), {
      actor: 'operator',
      action: 'webhook_delivery.redeliver',
      resource_id: id,
    });
    await reconcile(id);
    const { attempts } = await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
    assert.deepEqual(
      attempts.map(({ round }: Delivery) => round),
      [1, 2],
    );
  });

  it('recovers the failed deliveries of a period', async () => {
    const [early, dead, permanent] = (await recordDeliveries(weir, tenant, 3)) as [string, string, string];
    await changeDeliveries(weir, [early], {
      created_at: new Date('2026-01-01'),
      status: 'dead_letter',
    });
    await changeDeliveries(weir, [dead], { created_at: new Date('2026-02-02'), status: 'dead_letter' });
    await changeDeliveries(weir, [permanent], {
      created_at: new Date('2026-02-02'),
      status: 'failed_permanent',
    });
    const period = ['--since', '2026-02-01', '--until', '2026-03-01'];
    const recover = (...more: string[]) => succeedJson('recover', ...period, ...more);
    assert.deepEqual(await recover('--status', 'dead_letter'), { recovered: 1 });
    assert.deepEqual(await recover(), { recovered: 1 });
    await reconcile(dead, permanent);
    for (const id of [dead, permanent]) await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
    assert.equal((await succeedJson('show', early)).status, 'dead_letter');
  });

  it('answers the same for an unknown delivery and one of another organization', async () => {
    const [id = ''] = await recordDeliveries(weir, await weir.createTenant(), 1);
    for (const command of ['show', 'redeliver']) {
      const said = await fail(2, run('deliveries', command, tenant.organization, 'no-id'));
      assert.match(said, /Give the id of a delivery as weir operator deliveries list prints it/);
      for (const other of [id, randomUUID()])
        assert.equal(
          await fail(1, run('deliveries', command, tenant.organization, other)),
          'The organization has no such delivery.\n',
        );
    }
  });
});
