import assert from 'node:assert/strict';
import { code, llm } from '../../blocks.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

describe('the quota of runs under way', () => {
  let weir: JobsWeir;
  let flow: string;
  before(async () => {
    weir = await startJobsWeir();
    flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
  });
  after(() => weir.stop());
  afterEach(() => setQuota(null));

  const setQuota = (most: number | null) =>
    weir.db
      .updateTable('organization')
      .set({ runs_under_way_max: most })
      .where('id', '=', weir.tenant.organizationId)
      .execute();
  const post = (path: string, headers = {}) =>
    weir.call('POST', path, { key: weir.tenant.key, body: { message: 'm' }, headers });
  const countRuns = async () => (await weir.db.selectFrom('run').select('execution_id').execute()).length;
  async function end(executionId: string) {
    await weir.cancel(flow, executionId);
    await weir.finish(flow, executionId, weir.tenant.key);
  }

  it('refuses what would begin one more, stores nothing, and lets the next begin when one has ended', async () => {
    const { executionId } = await weir.startHeld(flow);
    await setQuota(1);
    const before = await countRuns();
    for (const [path, headers] of [
      [`${flow}/jobs`, {}],
      [`${flow}/jobs`, { 'idempotency-key': 'one' }],
      [`${flow}/execute`, {}],
      [`${flow}/jobs/${executionId}/rerun`, {}],
    ] as const) {
      const answer = await post(path, headers);
      assert.deepEqual([answer.status, answer.body.detail.code], [429, 'RATE_LIMITED'], path);
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    }
    const step = {
      executionId: null,
      version: 1,
      stepIndex: 0,
      accumulatedOutputs: {},
      message: 'm',
      parameters: {},
    };
    const session = await weir.call('POST', `${flow}/step`, { key: weir.tenant.key, body: step });
    assert.equal(session.status, 429, JSON.stringify(session.body));
    assert.equal(await countRuns(), before);
    await end(executionId);
    const again = await weir.startHeld(flow);
    await end(again.executionId);
  });

  it('counts neither runs that wait for their caller nor parked ones', async () => {
    const held = [(await weir.startHeld(flow)).executionId, (await weir.startHeld(flow)).executionId];
    const change = (id = '', values: object) =>
      weir.db.updateTable('run').set(values).where('execution_id', '=', id).execute();
    await change(held[0], { status: 'tool_calls_required' });
    await change(held[1], { parked_at: new Date() });
    await setQuota(1);
    const { executionId } = await weir.startHeld(flow);
    assert.equal((await post(`${flow}/jobs`)).status, 429);
    await change(held[0], { status: 'started' });
    await change(held[1], { parked_at: null });
    for (const id of [...held, executionId]) await end(id);
  });

  it('is exceeded by no more than what is stored at the same moment, and counts each organization by itself', async () => {
    const other = await weir.createTenant();
    const theirs = await weir.createFlow(other, [code('a', 'return 1')]);
    const { executionId } = await weir.startHeld(flow);
    await setQuota(1);
    const answer = await weir.call('POST', `${theirs}/execute`, { key: other.key, body: { message: 'm' } });
    assert.equal(answer.body.status, 'completed', JSON.stringify(answer.body));
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(`${flow}/jobs`)));
    assert.ok(answers.every(({ status }) => status === 429));
    await setQuota(0);
    const more = await weir.startHeld(flow);
    for (const id of [executionId, more.executionId]) await end(id);
  });
});
