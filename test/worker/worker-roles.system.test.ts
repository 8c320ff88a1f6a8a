import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import { countThreads } from '../count-threads.ts';
import { startProgram } from '../faults/processes.ts';
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

  it('has workers of flows fetch the list at WEIR_MODELS_URL, which those of webhooks may not reach', async () => {
    let asked = 0;
    const lists = createServer((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    lists.listen(0, '127.0.0.1');
    await once(lists, 'listening');
    const env = { WEIR_MODELS_URL: `http://127.0.0.1:${(lists.address() as AddressInfo).port}/models.json` };
    try {
      for (const [role, times] of [
        ['webhooks', 0],
        ['flows', 1],
      ] as const) {
        const worker = await startProgram(weir, 'worker/worker.ts', { ...env, WEIR_WORKER_ROLES: role });
        await worker.kill();
        assert.equal(asked, times, role);
      }
    } finally {
      lists.close();
    }
  });

  it('starts the workflow thread of a webhook worker with its first delivery, and not before', async () => {
    const other = await weir.createTenant();
    const [hook] = weir.hooks as [WebhookWeir['hooks'][number]];
    const flow = await weir.createFlow(other, []);
    await weir.stopWorker();
    weir.config.workerRoles = ['flows', 'webhooks'];
    assert.equal(await countThreads(() => weir.startWorker()), 1);
    const delivering = async () => {
      await weir.startJob(other, flow, hook);
      await weir.deliveryWhen(other, ({ status }) => status === 'succeeded');
    };
    assert.equal(await countThreads(delivering), 1);
  });
});
