// An API process without a worker asks the engine when a run has ended (npm run api).
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { findRunStarts } from '../../db/runs/find-run-starts.ts';
import { startRun } from '../../temporal/start-run.ts';
import { waitForRun } from '../../temporal/wait-for-run.ts';
import { acceptRun } from '../accept-run.ts';
import { code, passthrough } from '../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';

describe('waiting for a run that no worker of the process carries out', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await startWeir();
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  async function start(block: Parameters<Weir['createFlow']>[1][number]) {
    const { executionId } = await acceptRun(weir, tenant, await weir.createFlow(tenant, [block]));
    const [call] = await findRunStarts(weir.db, [executionId]);
    assert.ok(call);
    const engine = { client: weir.client, taskQueue: weir.config.taskQueue };
    const stop = new AbortController();
    const started = startRun(engine, call, { eagerly: false });
    const wait = (signal: AbortSignal) => waitForRun({ ...engine, db: weir.db }, call, started, signal);
    return { stop, started, wait, ended: wait(stop.signal) };
  }

  it('tells how it ended', async () => {
    const { ended } = await start(passthrough('a'));
    const outcome = await ended;
    assert.partialDeepStrictEqual(outcome, { status: 'completed', result: { json: 'm' } });
    const failed = await start(code('a', 'throw new Error("no");'));
    assert.equal((await failed.ended)?.status, 'failed');
  });

  it('ends at once when the caller has gone or the process stops', async () => {
    await weir.stopWorker();
    const { ended, stop } = await start(passthrough('a'));
    stop.abort();
    assert.equal(await ended, undefined);
  });

  it('asks the engine once for all who wait for a call, and for those who hang up and come back', async () => {
    const { workflowService } = weir.client;
    const ask = workflowService.getWorkflowExecutionHistory;
    let asked = 0;
    workflowService.getWorkflowExecutionHistory = function counted(
      this: typeof workflowService,
      ...given: never[]
    ) {
      asked += 1;
      return Reflect.apply(ask, this, given);
    } as typeof ask;
    try {
      const { ended, started, stop, wait } = await start(passthrough('a'));
      await started;
      for (let time = 0; time < 3; time += 1) {
        const gone = new AbortController();
        const waiting = wait(gone.signal);
        await nextTurn();
        gone.abort();
        assert.equal(await waiting, undefined);
      }
      stop.abort();
      assert.equal(await ended, undefined);
      assert.equal(asked, 1);
    } finally {
      workflowService.getWorkflowExecutionHistory = ask;
    }
  });
});
