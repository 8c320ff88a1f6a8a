import assert from 'node:assert/strict';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import { connectToTemporal } from '../../../temporal/connect.ts';
import { logFailingWorkflowTasks } from '../../../worker/maintenance/log-failing-workflow-tasks.ts';
import { measureBacklog } from '../../../worker/maintenance/measure-backlog.ts';
import { registerSearchAttributes } from '../../../worker/register-search-attributes.ts';
import { passthrough } from '../../blocks.ts';
import { captureLog } from '../../capture-log.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { listStuck } from '../../cli/operator/list-stuck.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

/** The engine reports it after five failures, between which it waits longer and longer. */
const TIMEOUT_MS = 300_000;

describe('a run whose workflow task fails again and again', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ worker: false });
  });
  after(() => weir.stop());

  it('is a line of the log that names it and says why, is measured, and is listed as stuck', async () => {
    const deps = { client: weir.client, taskQueue: weir.config.taskQueue };
    const log = captureLog();
    const told = () => log.lines.find(({ msg }) => msg.includes('stand still'));
    const connection = await connectToTemporal(weir.config);
    await registerSearchAttributes(connection, weir.config.temporal.namespace);
    const worker = await Worker.create({
      connection,
      taskQueue: weir.config.taskQueue,
      workflowsPath: path.join(import.meta.dirname, 'failing/workflows.ts'),
    });
    const running = worker.run();
    try {
      await logFailingWorkflowTasks(deps);
      assert.equal(told(), undefined);
      const tenant = await weir.createTenant();
      const flow = await weir.createFlow(tenant, [passthrough('only')]);
      const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
      const line = await waitUntil(async () => {
        await logFailingWorkflowTasks(deps);
        return told();
      });
      const { count, workflows } = line as unknown as {
        count: number;
        workflows: { workflow_id: string; cause: string }[];
      };
      assert.deepEqual([count, workflows.length], [1, 1]);
      assert.equal(workflows[0]?.workflow_id, body.executionId);
      assert.match(workflows[0]?.cause ?? '', /This release does not fit/);
      const metrics = captureMetrics();
      await measureBacklog({ db: weir.db, ...deps });
      const measured = await metrics.read('weir.workflow_task.failing');
      metrics.stop();
      assert.deepEqual(measured, { '': 1 });
      assert.deepEqual(await listStuck(weir), { [body.executionId]: 'task fails' });
    } finally {
      log.stop();
      worker.shutdown();
      await running;
      await connection.close();
    }
  }).timeout(TIMEOUT_MS);
});
