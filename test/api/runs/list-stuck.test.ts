import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { code, llm } from '../../blocks.ts';
import { weirIn } from '../../cli/cli-harness.ts';
import { respond } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

describe('GET …/runs?stuck=true', () => {
  let weir: JobsWeir;
  let flow: string;
  before(async () => {
    weir = await startJobsWeir();
    flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
  });
  after(() => weir.stop());

  const listStuck = async (path = flow, query = '', key = weir.tenant.key) => {
    const { status, body } = await weir.call('GET', `${path}/runs?stuck=true${query}`, { key });
    assert.equal(status, 200, JSON.stringify(body));
    return body.runs;
  };
  const reasons = async (...args: Parameters<typeof listStuck>) =>
    (await listStuck(...args)).map((run: { stuck?: { reason: string } }) => run.stuck?.reason);
  /** Changes a run without its triggers: no worker is notified. */
  const change = (id: string, values: object) =>
    weir.db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await tx.updateTable('run').set(values).where('execution_id', '=', id).execute();
    });
  const AGO = sql<Date>`now() - interval '3 minutes'`;
  /** Records three lost workers for the block of a run, which is shown a second after it has begun. */
  const loseWorkers = (executionId: string) =>
    waitUntil(async () => {
      const lost = weir.db.updateTable('block_under_way').set({ attempts: 4, started_at: AGO });
      const { numUpdatedRows } = await lost.where('execution_id', '=', executionId).executeTakeFirst();
      return numUpdatedRows === 1n;
    });
  async function end(executionId: string) {
    await change(executionId, { cancel_requested_at: null });
    await weir.cancel(flow, executionId);
    await weir.finish(flow, executionId, weir.tenant.key);
  }

  it('says why a run makes no progress and since when, and leaves out those that do', async () => {
    const well = await weir.startHeld(flow);
    const { executionId } = await weir.startHeld(flow);
    const ids = [executionId, well.executionId];
    const shown = weir.db.selectFrom('block_under_way').where('execution_id', 'in', ids).select('block_key');
    await waitUntil(async () => (await shown.execute()).length === 2);
    assert.deepEqual(await listStuck(), []);
    await loseWorkers(executionId);
    const [found] = await listStuck();
    assert.deepEqual([found.executionId, found.stuck.reason], [executionId, 'crash_looping']);
    assert.ok(Date.now() - Date.parse(found.stuck.since) > 170_000);
    assert.deepEqual(await reasons(flow, `&id=${executionId}`), ['crash_looping']);
    assert.deepEqual(await reasons(flow, `&id=${well.executionId}`), []);
    assert.deepEqual(await reasons(flow, '&status=failed'), []);
    assert.deepEqual(await reasons(flow, '&status=started&mode=jobs'), ['crash_looping']);
    const { body } = await weir.call('GET', `${flow}/runs`, { key: weir.tenant.key });
    assert.ok(body.runs.every((run: object) => !('stuck' in run)));
    await Promise.all([end(executionId), end(well.executionId)]);
    assert.deepEqual(await listStuck(), []);
  });

  it('names a run whose model has not answered for two minutes, unless its provider has refused', async () => {
    const { executionId } = await weir.startHeld(flow);
    const change = (values: object) =>
      waitUntil(async () => {
        const shown = weir.db.updateTable('block_under_way').set(values);
        return (await shown.where('execution_id', '=', executionId).executeTakeFirst()).numUpdatedRows === 1n;
      });
    await change({ started_at: AGO });
    const [{ stuck }] = await listStuck();
    assert.equal(stuck.reason, 'waiting_for_model');
    assert.ok(Date.now() - Date.parse(stuck.since) > 170_000);
    await change({ next_attempt_at: new Date() });
    assert.deepEqual(await listStuck(), []);
    await end(executionId);
  });

  it('names a run that was cancelled two minutes ago and has not ended, and since when', async () => {
    const { executionId } = await weir.startHeld(flow);
    await change(executionId, { cancel_requested_at: new Date() });
    assert.deepEqual(await listStuck(), []);
    await change(executionId, { cancel_requested_at: AGO });
    const [{ stuck }] = await listStuck();
    assert.equal(stuck.reason, 'cancelling');
    const { cancel_requested_at } = await weir.db
      .selectFrom('run')
      .select('cancel_requested_at')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.equal(stuck.since, cancel_requested_at?.toISOString());
    await end(executionId);
  });

  it('lists all runs, without a reason, with stuck=false, and refuses any other value', async () => {
    const { executionId } = await weir.startHeld(flow);
    await loseWorkers(executionId);
    const list = (value: string) =>
      weir.call('GET', `${flow}/runs?status=started&stuck=${value}`, { key: weir.tenant.key });
    const { body } = await list('false');
    assert.deepEqual(
      body.runs.map((run: { executionId: string; stuck?: object }) => [run.executionId, run.stuck]),
      [[executionId, undefined]],
    );
    for (const value of ['', 'yes', '1', 'TRUE', 'crash_looping']) {
      const { status, body } = await list(value);
      assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR'], value);
      assert.match(body.detail.message, /^stuck: /, value);
    }
    await end(executionId);
  });

  it('tells what the provider said that refuses a block, and when it is asked again', async () => {
    weir.models.will(respond(503, { error: { message: 'overloaded' } }, { 'retry-after': '50' }));
    const executionId = await weir.start(flow);
    await waitUntil(async () =>
      (await weir.read(flow, executionId)).body.blocksUnderWay?.some(
        (block: { status: string }) => block.status === 'retrying',
      ),
    );
    assert.deepEqual(await listStuck(), []);
    await weir.db
      .updateTable('block_under_way')
      .set({ attempts: 4 })
      .where('execution_id', '=', executionId)
      .execute();
    const [{ stuck }] = await listStuck();
    assert.equal(stuck.reason, 'retrying');
    assert.match(stuck.errorMessage, /demo\/chat is unavailable \(status 503\).*overloaded/);
    assert.ok(Date.parse(stuck.nextAttemptAt) > Date.now());
    const { code, stdout, stderr } = await weirIn(
      { WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, WEIR_API_KEY: weir.tenant.key },
      ['runs', 'list', '--stuck'],
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`${executionId} .* retrying .*is unavailable`));
    assert.match(stdout, /^retrying: a block fails repeatedly/m);
    await end(executionId);
  });

  it('says that a run loses its workers, rather than that it is refused, where a block has no error', async () => {
    const { executionId } = await weir.startHeld(flow);
    await loseWorkers(executionId);
    const [{ stuck }] = await listStuck();
    assert.deepEqual([stuck.reason, 'errorMessage' in stuck], ['crash_looping', false]);
    await end(executionId);
  });

  it('finds runs that no worker goes on with, in the project too, and none of another organization', async () => {
    const { executionId } = await weir.startHeld(flow);
    // Written a second after the block has begun: only then is it deleted for good.
    await waitUntil(async () => {
      const deleted = weir.db.deleteFrom('block_under_way').where('execution_id', '=', executionId);
      return (await deleted.executeTakeFirst()).numDeletedRows === 1n;
    });
    await change(executionId, { started_at: AGO });
    const { status, body } = await weir.call('GET', `/projects/${weir.tenant.projectId}/runs?stuck=true`, {
      key: weir.tenant.key,
    });
    assert.equal(status, 200, JSON.stringify(body));
    const found = body.runs.map((run: { stuck?: { reason: string } }) => run.stuck?.reason);
    assert.deepEqual(found, ['waiting']);
    const other = await weir.createTenant();
    const theirs = await weir.createFlow(other, [code('a', 'return 1')]);
    assert.deepEqual(await listStuck(theirs, '', other.key), []);
    await end(executionId);
  });
});
