import { parkRun, requestUnpark } from '../../../db/runs/parked-runs.ts';
import { unparkRequestedRuns } from '../../../worker/duties/unpark-requested-runs.ts';
import { acceptRun } from '../../accept-run.ts';
import { passthrough } from '../../blocks.ts';
import { startWeir, type Weir } from '../../harness.ts';

describe('parked runs that are to go on', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ worker: false });
  });
  after(() => weir.stop());

  it('and have ended meanwhile are not failures, with Worker Versioning either', async () => {
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const { executionId } = await acceptRun(weir, tenant, flow);
    const { workflow } = weir.client;
    await workflow.start('ended', { workflowId: executionId, taskQueue: 'nobody' });
    await workflow.getHandle(executionId).terminate();
    await parkRun(weir.db, (await acceptRun(weir, tenant, flow)).executionId);
    await parkRun(weir.db, executionId);
    await requestUnpark(weir.db, 'all');
    for (const deployment of [undefined, { deploymentName: 'weir', buildId: 'v1' }])
      await unparkRequestedRuns({ ...weir, deployment });
  });
});
