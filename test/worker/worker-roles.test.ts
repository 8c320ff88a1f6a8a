import assert from 'node:assert/strict';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import type { Tenant } from '../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';

const WORKFLOW_TASKS = 1;

describeWith(['openssl'], 'WEIR_WORKER_ROLES', () => {
  let weir: WebhookWeir;
  let tenant: Tenant;
  before(async () => {
    weir = await startWebhookWeir({ env: { WEIR_WORKER_ROLES: 'flows' } });
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const pollersOf = async (name: string) =>
    (
      await weir.client.workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name },
        taskQueueType: WORKFLOW_TASKS,
      })
    ).pollers.length;

  it('has flows run by workers of flows, and webhooks delivered by workers of webhooks alone', async () => {
    const [hook] = weir.hooks as [WebhookWeir['hooks'][number]];
    const flow = await weir.createFlow(tenant, []);
    const executionId = await weir.startJob(tenant, flow, hook);
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
    const { taskQueue } = weir.config;
    assert.equal(await pollersOf(webhookTaskQueue(taskQueue)), 0);

    await weir.stopWorker();
    weir.config.workerRoles = ['webhooks'];
    await weir.startWorker();
    await weir.deliveryWhen(tenant, ({ status }) => status === 'succeeded');
    assert.equal(hook.received.length, 1);
  });
});
