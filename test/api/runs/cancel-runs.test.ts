import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { llm } from '../../blocks.ts';
import { lockBalance } from '../../db/credits/ledger-fixture.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { assertCancelled, type JobsWeir, startJobsWeir } from './jobs-harness.ts';

describe('POST …/projects/{project_id}/runs/cancel', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  const createFlow = () => weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
  const slugOf = (flow: string) => flow.split('/')[2];
  const cancel = (body: object = {}, key = weir.tenant.key) =>
    weir.call('POST', `/projects/${weir.tenant.projectId}/runs/cancel`, { key, body });
  const startHeld = async (flow: string) => (await weir.startHeld(flow)).executionId;
  const finish = (flow: string, id: string) => weir.finish(flow, id, weir.tenant.key);
  const entries = () =>
    weir.db
      .selectFrom('audit_entry')
      .select('details')
      .where('organization_id', '=', weir.tenant.organizationId)
      .where('action', '=', 'runs.cancel')
      .orderBy('id')
      .execute();

  it('cancels the runs under way that the filter finds, the newest first, in pages, and no other', async () => {
    const [flow, other] = [await createFlow(), await createFlow()];
    const ids = [await startHeld(flow), await startHeld(flow), await startHeld(flow)].reverse();
    const left = await startHeld(other);
    const filter = { flow: slugOf(flow), status: 'started', limit: 2 };
    const page = await cancel(filter);
    assert.equal(page.status, 200, JSON.stringify(page.body));
    assert.deepEqual([page.body.cancelled, page.body.hasMore], [ids.slice(0, 2), true]);
    const rest = await cancel({ ...filter, cursor: page.body.nextCursor });
    assert.deepEqual(
      [rest.body.cancelled, rest.body.hasMore, rest.body.nextCursor],
      [ids.slice(2), false, null],
    );
    for (const id of ids) assertCancelled((await finish(flow, id)).body);
    const again = await cancel({ flow: slugOf(flow) });
    assert.deepEqual(again.body.cancelled, []);
    const { body } = await weir.call('GET', `${other}/jobs/${left}`, { key: weir.tenant.key });
    assert.equal(body.status, 'started');
    await weir.cancel(other, left);
    const last = (await entries()).slice(-3).map(({ details }) => details);
    assert.deepEqual(last, [
      { ...filter, cancelled: 2 },
      { ...filter, cursor: page.body.nextCursor, cancelled: 1 },
      { flow: slugOf(flow), limit: 100, cancelled: 0 },
    ]);
  });

  it('only says which runs these are when it is asked to', async () => {
    const flow = await createFlow();
    const [id, before] = [await startHeld(flow), (await entries()).length];
    const { body } = await cancel({ flow: slugOf(flow), dryRun: true });
    assert.deepEqual([body.cancelled, body.matching], [[], [id]]);
    assert.equal((await entries()).length, before);
    await cancel({ flow: slugOf(flow) });
    const repeated = await cancel({ flow: slugOf(flow), dryRun: true });
    assert.deepEqual(repeated.body.matching, []);
    assertCancelled((await finish(flow, id)).body);
  });

  it('locks no organization before its runs, so that a block which is charged meanwhile is not in its way', async () => {
    const flow = await createFlow();
    const id = await startHeld(flow);
    const { cancelling } = await weir.db.transaction().execute(async (tx) => {
      await sql`select from run where execution_id = ${id} for no key update`.execute(tx);
      const cancelling = cancel({ flow: slugOf(flow) });
      await lockWaiters(weir.db, 1);
      await lockBalance(tx, weir.tenant);
      return { cancelling };
    });
    assert.deepEqual((await cancelling).body.cancelled, [id]);
    assertCancelled((await finish(flow, id)).body);
  });

  it('ends runs that wait for their caller at once', async () => {
    const flow = await createFlow();
    const id = await startHeld(flow);
    await weir.db
      .updateTable('run')
      .set({ status: 'tool_calls_required' })
      .where('execution_id', '=', id)
      .execute();
    assert.deepEqual((await cancel({ flow: slugOf(flow), status: 'started' })).body.cancelled, []);
    assert.deepEqual((await cancel({ flow: slugOf(flow) })).body.cancelled, [id]);
    const { body } = await weir.call('GET', `${flow}/jobs/${id}`, { key: weir.tenant.key });
    assertCancelled(body);
    await weir.client.workflow.getHandle(id).cancel();
  });

  it('reads no filter from the address, and refuses a status that has ended', async () => {
    const path = `/projects/${weir.tenant.projectId}/runs/cancel?flow=hello`;
    assert.equal((await weir.call('POST', path, { key: weir.tenant.key, body: {} })).status, 422);
    const { status, body } = await cancel({ status: 'completed' });
    assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR']);
  });
});
