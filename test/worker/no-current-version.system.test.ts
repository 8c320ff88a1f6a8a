import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { passthrough } from '../blocks.ts';
import { listStuck, printStuck } from '../cli/operator/list-stuck.ts';
import { type Program, startProgram } from '../faults/processes.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

/** An answer is kept for a second. */
const KEPT_MS = 1_100;
/** On a busy machine, the database may seem away. */
const NOT_READY = 'not ready';
const LACK = 'no worker of the current version asks for work';

describe('workers of a version that is not current', () => {
  const deploymentName = `weir-${randomUUID()}`;
  const workers: Program[] = [];
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('only')]);
  });
  after(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await weir.stop();
  });

  async function startVersion(buildId: string): Promise<void> {
    const env = { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId };
    workers.push(await startProgram(weir, 'worker/worker.ts', env));
  }
  const describeQueue = () =>
    weir.client.workflowService.describeTaskQueue({
      namespace: weir.client.options.namespace,
      taskQueue: { name: weir.config.taskQueue },
      taskQueueType: 1,
    });
  const polls = (buildId: string) =>
    waitUntil(async () =>
      (await describeQueue()).pollers.some(({ deploymentOptions }) => deploymentOptions?.buildId === buildId),
    );
  const findLack = async () => {
    const response = await fetch(`${weir.url}/readyz`);
    const { away } = (await response.json()) as { away: { workers?: string } };
    return response.status === 200 ? away.workers : NOT_READY;
  };
  const startLongAgo = async () => {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    const started = weir.db.updateTable('run').set({ started_at: sql<Date>`now() - interval '3 minutes'` });
    await started.where('execution_id', '=', body.executionId).execute();
    return body.executionId;
  };

  /** Starts runs until one of them waits, since about half of them begin. */
  async function startUntilStuck(reason: string): Promise<string> {
    const ids: string[] = [];
    let stuck: [string, string][] = [];
    await waitUntil(async () => {
      ids.push(await startLongAgo());
      stuck = Object.entries(await listStuck(weir));
      return stuck.length > 0;
    });
    const [[executionId, found] = ['', '']] = stuck;
    assert.ok(ids.includes(executionId));
    assert.equal(found, reason);
    return executionId;
  }

  it('are told from those that begin runs by /readyz, and their runs are listed as stuck', async () => {
    await startVersion('1');
    await polls('1');
    await waitUntil(async () => (await findLack()) === LACK);
    const executionId = await startLongAgo();
    // The engine's list of workflows lags behind.
    await waitUntil(async () => Object.keys(await listStuck(weir)).length > 0);
    assert.deepEqual(await listStuck(weir), { [executionId]: 'no current worker' });
    const stdout = await printStuck(weir);
    assert.match(stdout, /^no current worker: no worker of the current version polls/m);
    await waitUntil(() =>
      weir.client.workflowService
        .setWorkerDeploymentCurrentVersion({
          namespace: weir.client.options.namespace,
          deploymentName,
          buildId: '1',
        })
        .catch(() => undefined),
    );
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
    await waitUntil(async () => (await findLack()) === undefined);
    assert.deepEqual(await listStuck(weir), {});
  });

  it('take nothing from a roll-out: /readyz names nothing while the current version polls beside them', async () => {
    await startVersion('2');
    await polls('2');
    // An answer is kept for a second.
    await setTimeout(KEPT_MS);
    const found = await waitUntil(async () => {
      const lack = await findLack();
      return lack !== NOT_READY && { lack };
    });
    assert.equal(found.lack, undefined);
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    assert.equal((await weir.finish(flow, body.executionId, tenant.key)).body.status, 'completed');
  });

  it('hide neither that the current version has no worker beside a ramping one, nor the other way round', async () => {
    const service = weir.client.workflowService;
    const { namespace } = weir.client.options;
    const chosen = { namespace, deploymentName, ignoreMissingTaskQueues: true };
    // Without a build id, workers without a version are meant, and there are none.
    await service.setWorkerDeploymentCurrentVersion(chosen);
    await service.setWorkerDeploymentRampingVersion({ ...chosen, buildId: '2', percentage: 50 });
    await waitUntil(async () => (await findLack()) === LACK);
    const waiting = await startUntilStuck('no current worker');
    await service.setWorkerDeploymentCurrentVersion({ ...chosen, buildId: '2' });
    assert.equal((await weir.finish(flow, waiting, tenant.key)).body.status, 'completed');
    await service.setWorkerDeploymentRampingVersion({ ...chosen, percentage: 50 });
    await waitUntil(async () => (await findLack()) === 'no worker of the ramping version asks for work');
  });
});
