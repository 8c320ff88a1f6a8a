// Workers die again and again under what a run does inside its workflow task, which goes with the worker.
import assert from 'node:assert/strict';
import { code, passthrough } from '../blocks.ts';
import { listStuck } from '../cli/operator/list-stuck.ts';
import { endLockWaiters, keepLocks, lockWaiters } from '../db/lock-waiters.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { startWithTaskTimeout } from '../start-with-task-timeout.ts';
import { waitUntil } from '../wait-until.ts';
import { startProgram } from './processes.ts';

/** So many cause no delay yet. */
const LOSSES = 5;
/** Each is found out when the time of the workflow task is over, which grows. */
const TIMEOUT_MS = 600_000;

describe('a run whose workers are lost under a block in its workflow task', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('keep'), code('last', 'return message;')]);
  });
  after(() => weir.stop());

  /** Whether a worker has its workflow task, until the engine takes it for lost. */
  async function isBegun(executionId: string): Promise<boolean> {
    const { raw } = await weir.client.workflow.getHandle(executionId).describe();
    return !!raw.pendingWorkflowTask?.startedTime;
  }
  async function runAnother(): Promise<void> {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    const { status } = (await weir.finish(flow, body.executionId, tenant.key)).body;
    assert.equal(status, 'completed');
  }

  it('is retried and listed as stuck while others go on, and completes once its workers live', async () => {
    const executionId = await startWithTaskTimeout(weir, tenant, flow, '4 seconds');
    // Its block can't be recorded for now, and kills its worker there.
    await weir.db.transaction().execute(async (lock) => {
      await keepLocks(lock);
      await lock
        .selectFrom('run')
        .select('status')
        .where('execution_id', '=', executionId)
        .forUpdate()
        .execute();
      for (let losses = 0; losses < LOSSES; losses += 1) {
        const worker = await startProgram(weir, 'worker/worker.ts');
        // It waits to record the block.
        await lockWaiters(weir.db, 1);
        if (losses === 0) await runAnother();
        await worker.kill();
        await endLockWaiters(weir.db);
        await waitUntil(async () => !(await isBegun(executionId)));
      }
    });
    await waitUntil(async () => (await listStuck(weir))[executionId] === 'crash-looping');
    await weir.startWorker();
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
  }).timeout(TIMEOUT_MS);
});
