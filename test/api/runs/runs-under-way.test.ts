import assert from 'node:assert/strict';
import { inTransaction } from '../../../db/connect.ts';
import { deleteFlow } from '../../../db/flows/flows.ts';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { insertProject } from '../../../db/tenants/projects.ts';
import { code, llm } from '../../blocks.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { waitUntil } from '../../wait-until.ts';
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

  const setQuota = (most: number | null) => updateRunsUnderWayMax(weir.db, weir.tenant.organizationId, most);
  const post = (path: string, headers = {}) =>
    weir.call('POST', path, {
      key: weir.tenant.key,
      body: path.endsWith('/rerun') ? undefined : { message: 'm' },
      headers,
    });
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

  it('does not count runs that wait for their caller', async () => {
    const waiting = (await weir.startHeld(flow)).executionId;
    const setStatus = (status: 'started' | 'tool_calls_required') =>
      weir.db.updateTable('run').set({ status }).where('execution_id', '=', waiting).execute();
    await setStatus('tool_calls_required');
    await setQuota(1);
    const { executionId } = await weir.startHeld(flow);
    assert.equal((await post(`${flow}/jobs`)).status, 429);
    await setStatus('started');
    for (const id of [waiting, executionId]) await end(id);
  });

  it('counts each organization by itself, and refuses whatever comes once it is full', async () => {
    const other = await weir.createTenant();
    const theirs = await weir.createFlow(other, [code('a', 'return 1')]);
    const { executionId } = await weir.startHeld(flow);
    await setQuota(1);
    const { body } = await weir.call('POST', `${theirs}/execute`, { key: other.key, body: { message: 'm' } });
    assert.equal(body.status, 'completed', JSON.stringify(body));
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(`${flow}/jobs`)));
    assert.ok(answers.every(({ status }) => status === 429));
    await setQuota(0);
    const more = await weir.startHeld(flow);
    for (const id of [executionId, more.executionId]) await end(id);
  });

  it('counts the runs of all flows, projects and keys of the organization', async () => {
    const { organizationId } = weir.tenant;
    const project = await insertProject(weir.db, { organizationId, slug: 'second', name: 'Second' });
    const { key } = await createScopedKey(weir, project.id, 'run', 'read');
    const steps = [code('a', 'return 1')];
    const inSecond = await weir.createFlow({ ...weir.tenant, projectId: project.id }, steps);
    const paths = [
      [await weir.createFlow(weir.tenant, steps), weir.tenant.key],
      [inSecond.replace('/project/', '/second/'), key],
    ] as const;
    const { executionId } = await weir.startHeld(flow);
    const executeEach = () =>
      Promise.all(
        paths.map(([path, key]) => weir.call('POST', `${path}/execute`, { key, body: { message: 'm' } })),
      );
    await setQuota(1);
    assert.deepEqual(
      (await executeEach()).map(({ status }) => status),
      [429, 429],
    );
    await setQuota(null);
    assert.deepEqual(
      (await executeEach()).map(({ status }) => status),
      [200, 200],
    );
    await end(executionId);
  });

  it('counts the runs of a deleted flow until they end', async () => {
    const deleted = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    const { executionId, response } = await weir.startHeld(deleted);
    const run = weir.db.selectFrom('run').select(['status', 'flow_id']);
    const find = () => run.where('execution_id', '=', executionId).executeTakeFirstOrThrow();
    const { flow_id } = await find();
    await inTransaction(weir.db, (tx) => deleteFlow(tx, flow_id));
    await setQuota(1);
    assert.equal((await post(`${flow}/jobs`)).status, 429);
    answer('done')(response);
    await waitUntil(async () => (await find()).status === 'completed');
    await end((await weir.startHeld(flow)).executionId);
  });

  it('refuses no request that is repeated after its run was stored, and leaves the key of a refused one free', async () => {
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const first = await post(`${flow}/jobs`, { 'idempotency-key': 'stored' });
    // A run that is cancelled before asks no model, and the next one would hang instead.
    await asked;
    await setQuota(1);
    const again = await post(`${flow}/jobs`, { 'idempotency-key': 'stored' });
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
    assert.equal(again.body.executionId, first.body.executionId);
    assert.equal((await post(`${flow}/jobs`, { 'idempotency-key': 'refused' })).status, 429);
    await end(first.body.executionId);
    weir.models.will(answer('done'));
    const later = await post(`${flow}/execute`, { 'idempotency-key': 'refused' });
    assert.deepEqual([later.status, later.body.status], [200, 'completed'], JSON.stringify(later.body));
  });
});
