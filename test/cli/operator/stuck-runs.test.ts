import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { llm, passthrough } from '../../blocks.ts';
import { respond } from '../../fakes/model-server.ts';
import { startTcpProxy, type TcpProxy } from '../../fakes/tcp-proxy.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { listStuck, operatorOf, printStuck } from './list-stuck.ts';

const AGO = sql<Date>`now() - interval '3 minutes'`;

/** Changes a run without its triggers: no worker is notified. */
const change = ({ db }: Weir, id: string, values: object) =>
  db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await tx.updateTable('run').set(values).where('execution_id', '=', id).execute();
  });

// Temporal reports a failing or lost workflow task only after minutes: log-failing-workflow-tasks.system.test.ts and
// lost-under-block.test.ts test that.
describe('weir operator runs stuck', () => {
  let weir: JobsWeir;
  let flow: string;
  before(async () => {
    weir = await startJobsWeir({ own: true });
    flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
  });
  after(() => weir.stop());

  async function end(executionId: string) {
    await change(weir, executionId, { cancel_requested_at: null });
    await weir.cancel(flow, executionId);
    await weir.finish(flow, executionId, weir.tenant.key);
    assert.deepEqual(await listStuck(weir), {});
  }

  it('names a run that was cancelled two minutes ago and has not ended, and no other', async () => {
    const { executionId } = await weir.startHeld(flow);
    const well = await weir.startHeld(flow);
    assert.deepEqual(await listStuck(weir), {});
    await change(weir, executionId, { cancel_requested_at: AGO });
    assert.deepEqual(await listStuck(weir), { [executionId]: 'cancelling' });
    await change(weir, executionId, { cancel_requested_at: new Date() });
    assert.deepEqual(await listStuck(weir), {});
    await end(executionId);
    await end(well.executionId);
  });

  it('names a run with a block that was tried four times, and what its provider said', async () => {
    weir.models.will(respond(503, { error: { message: 'overloaded' } }, { 'retry-after': '50' }));
    const executionId = await weir.start(flow);
    await waitUntil(async () =>
      (await weir.read(flow, executionId)).body.blocksUnderWay?.some(
        (block: { status: string }) => block.status === 'retrying',
      ),
    );
    const setAttempts = (attempts: number) =>
      weir.db
        .updateTable('block_under_way')
        .set({ attempts })
        .where('execution_id', '=', executionId)
        .execute();
    await setAttempts(3);
    assert.deepEqual(await listStuck(weir), {});
    await setAttempts(4);
    assert.deepEqual(await listStuck(weir), { [executionId]: 'retrying' });
    const stdout = await printStuck(weir);
    assert.match(stdout, new RegExp(`^${executionId} .* retrying .*attempt 4: .*is unavailable`, 'm'));
    assert.match(stdout, /^retrying: a block fails repeatedly/m);
    await end(executionId);
  });

  it('names a run whose model has not answered for two minutes', async () => {
    const { executionId } = await weir.startHeld(flow);
    await waitUntil(async () => {
      const silent = weir.db.updateTable('block_under_way').set({ started_at: AGO });
      const { numUpdatedRows } = await silent.where('execution_id', '=', executionId).executeTakeFirst();
      return numUpdatedRows === 1n;
    });
    assert.deepEqual(await listStuck(weir), { [executionId]: 'waits for a model' });
    await end(executionId);
  });

  it('says how often the worker of a block was lost that has no error, and to look at the workers', async () => {
    const { executionId } = await weir.startHeld(flow);
    await waitUntil(async () => {
      const lost = weir.db.updateTable('block_under_way').set({ attempts: 6 });
      const { numUpdatedRows } = await lost.where('execution_id', '=', executionId).executeTakeFirst();
      return numUpdatedRows === 1n;
    });
    assert.deepEqual(await listStuck(weir), { [executionId]: 'crash-looping' });
    const stdout = await printStuck(weir);
    assert.match(
      stdout,
      new RegExp(`^${executionId} .* crash-looping .*: its worker was lost 5 times$`, 'm'),
    );
    assert.match(
      stdout,
      /^crash-looping: its workers die: check their logs and memory; it is retried, with up to 10 minutes/m,
    );
    await end(executionId);
  });

  it('names a run whose workflow is gone', async () => {
    // A worker would repair it.
    await weir.stopWorker();
    const executionId = await weir.start(flow);
    await change(weir, executionId, { started_at: AGO });
    assert.deepEqual(await listStuck(weir), {});
    await weir.client.workflow.getHandle(executionId).terminate();
    assert.deepEqual(await listStuck(weir), { [executionId]: 'no workflow' });
  });
});

describe('weir operator runs stuck where no worker has been', () => {
  let engine: TcpProxy;
  let weir: Weir;
  before(async () => {
    const address = process.env.TEST_TEMPORAL_ADDRESS ?? '';
    engine = await startTcpProxy(`http://${address}`);
    weir = await startWeir({ env: { TEMPORAL_ADDRESS: new URL(engine.url).host }, worker: false });
  });
  after(async () => {
    await weir.stop();
    await engine.close();
  });

  it('names the runs that wait for one', async () => {
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, [passthrough('only')]);
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    assert.deepEqual(await listStuck(weir), {});
    await change(weir, body.executionId, { started_at: AGO });
    assert.deepEqual(await listStuck(weir), { [body.executionId]: 'no worker' });
  });

  for (const how of ['silence', 'refuse'] as const)
    it(`does not say that none is stuck while Temporal cannot be asked (${how})`, async () => {
      await engine[how]();
      const { code, stdout, stderr } = await (await operatorOf(weir)).run('operator', 'runs', 'stuck');
      assert.equal(code, 0, stderr);
      assert.equal(stdout, 'The database shows no stuck run.\n');
      assert.match(stderr, /^Temporal did not answer: .* may be missing\.$/m);
    });
});
