import assert from 'node:assert/strict';
import { reconcileDeliveries } from '../../../worker/reconciler/reconcile-deliveries.ts';
import { passthrough } from '../../blocks.ts';
import type { WebhookReceiver } from '../../fakes/webhook-receiver.ts';
import type { Tenant } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { changeDeliveries, statusIs } from './deliveries-fixture.ts';

describe('webhook deliveries in Temporal', () => {
  let weir: WebhookWeir;
  let tenant: Tenant;
  let flow: string;
  let hook: WebhookReceiver;
  before(async () => {
    weir = await startWebhookWeir();
    hook = weir.hooks[0] as WebhookReceiver;
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('a')]);
  });
  after(() => weir.stop());

  const attributesOf = async (workflowId: string) => {
    const { typedSearchAttributes } = await waitUntil(() =>
      weir.client.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => undefined),
    );
    return Object.fromEntries(
      typedSearchAttributes
        .getAll()
        .filter(({ key }) => key.name.startsWith('Weir'))
        .map(({ key, value }) => [key.name, value]),
    );
  };
  const ofRun = () => ({
    WeirOrganization: tenant.organization,
    WeirProject: 'project',
    WeirFlow: flow.split('/')[2],
    WeirVersion: 1,
    WeirMode: 'jobs',
    WeirEnvironment: 'live',
  });
  const deliver = async () => {
    await weir.startJob(tenant, flow, hook);
    const { id } = await weir.deliveryWhen(tenant, statusIs('succeeded'));
    return id as string;
  };

  it('are found like the run that they report: the first, a redelivered one and a reconciled one', async () => {
    const id = await deliver();
    assert.deepEqual(await attributesOf(id), ofRun());
    await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`);
    assert.deepEqual(await attributesOf(`${id}-2`), ofRun());
    await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
    // A third round whose workflow nobody started.
    await changeDeliveries(weir, [id], { status: 'pending', round: 3, attempt: 0, check_at: new Date(0) });
    await reconcileDeliveries({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue });
    assert.deepEqual(await attributesOf(`${id}-3`), ofRun());
  });

  it('of failed runs do not have the outcome of the run', async () => {
    const failing = await weir.createFlow(tenant, [passthrough('a', { inputSchema: { type: 'number' } })]);
    const executionId = await weir.startJob(tenant, failing, hook);
    const { id } = await weir.deliveryWhen(tenant, (delivery) => delivery.executionId === executionId);
    assert.deepEqual(await attributesOf(id), { ...ofRun(), WeirFlow: failing.split('/')[2] });
  });

  it('of test events are found by their organization, and by the query of the documentation', async () => {
    const { id } = await weir.sendTest(tenant, hook);
    assert.deepEqual(await attributesOf(id), { WeirOrganization: tenant.organization });
    const query = `WorkflowType = 'deliverWebhook' and WeirOrganization = '${tenant.organization}'`;
    await waitUntil(async () => {
      for await (const { workflowId } of weir.client.workflow.list({ query }))
        if (workflowId === id) return true;
      return false;
    });
  });
});
