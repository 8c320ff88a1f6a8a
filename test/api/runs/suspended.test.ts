// Organizations that an operator has suspended.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { endSuspension, suspendOrganization } from '../../../db/tenants/organizations.ts';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { acceptRun } from '../../accept-run.ts';
import { code, passthrough } from '../../blocks.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import type { Answer } from '../../harness.ts';
import { ASK, type Draft, type DraftWeir, startDraftWeir } from './draft-harness.ts';

describe('while its organization is suspended', () => {
  let weir: DraftWeir;
  let steps: Draft;
  let asking: Draft;
  before(async () => {
    weir = await startDraftWeir();
    steps = await weir.createDraft([passthrough('a'), passthrough('b')]);
    asking = await weir.createDraft([ASK]);
    for (const { draft } of [steps, asking]) await weir.publish(draft);
  });
  after(() => weir.stop());
  afterEach(() => resume());

  const suspend = (reason?: string) =>
    weir.db.transaction().execute((tx) => suspendOrganization(tx, weir.tenant.organizationId, reason));
  const resume = () => weir.db.transaction().execute((tx) => endSuspension(tx, weir.tenant.organizationId));
  const get = (path: string) => weir.call('GET', path, { key: weir.key });
  const countRuns = async () => (await weir.db.selectFrom('run').select('execution_id').execute()).length;
  const fresh = { message: 'm' };
  const first = { executionId: null, stepIndex: 0, message: 'm' };

  function assertRefused({ status, body }: Answer): void {
    assert.deepEqual([status, body.detail?.code], [403, 'FORBIDDEN'], JSON.stringify(body));
    assert.match(body.detail.message, /^The operator of the service has suspended the organization/);
  }
  /** Suspends the organization for `work`, which is to store no run. */
  async function whileSuspended(work: () => Promise<void>): Promise<void> {
    const before = await countRuns();
    await suspend();
    await work();
    assert.equal(await countRuns(), before);
    await resume();
  }
  /** Starts a job whose model does not answer before `finish` is called with its response. */
  async function startWaiting() {
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const { executionId } = (await weir.post(`${asking.flow}/jobs`, fresh)).body as { executionId: string };
    return { executionId, response: await asked };
  }
  async function failOnce(): Promise<{ flow: string; executionId: string }> {
    const { draft, flow } = await weir.createDraft([code('a', 'throw new Error("no");')]);
    await weir.publish(draft);
    return { flow, executionId: (await weir.post(`${flow}/execute`, fresh)).body.executionId };
  }

  it('no run begins, of a version or of the draft, and each can once the organization goes on', async () => {
    const requests = [
      ...['execute', 'jobs', 'v1/execute', 'v1/jobs'].map(
        (path) => [`${steps.flow}/${path}`, fresh] as const,
      ),
      ...['execute', 'runs'].map((path) => [`${steps.draft}/${path}`, fresh] as const),
      ...[`${steps.flow}/step`, `${steps.flow}/v1/step`, `${steps.draft}/step`].map(
        (path) => [path, first] as const,
      ),
    ];
    await whileSuspended(async () => {
      for (const [path, body] of requests) assertRefused(await weir.post(path, body));
    });
    for (const [path, body] of requests.filter(([path]) => !path.endsWith('step')))
      assert.ok((await weir.post(path, body)).status < 300, path);
    for (const path of [steps.flow, steps.draft])
      assert.equal((await weir.step(path, first)).at(-1)?.event, 'step_paused');
  });

  it('callers are told the reason, also where there are no credits', async () => {
    await suspend('too many runs: write to help@example.com');
    const organization = weir.db.updateTable('organization').where('id', '=', weir.tenant.organizationId);
    const { balance_microcredits } = await weir.db
      .selectFrom('organization')
      .select('balance_microcredits')
      .where('id', '=', weir.tenant.organizationId)
      .executeTakeFirstOrThrow();
    await organization.set({ balance_microcredits: 0 }).execute();
    const refused = await weir.post(`${steps.flow}/execute`, fresh);
    await organization.set({ balance_microcredits }).execute();
    assertRefused(refused);
    assert.match(refused.body.detail.message, /The reason given: too many runs: write to help@example\.com$/);
  });

  it('no later step runs, and the session goes on afterwards', async () => {
    const [started] = await weir.step(steps.flow, first);
    const { executionId } = started?.data ?? {};
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
    await whileSuspended(async () => assertRefused(await weir.post(`${steps.flow}/step`, next)));
    assert.equal((await weir.step(steps.flow, next)).at(-1)?.event, 'run_completed');
  });

  it('no tool results are taken, and the run stays paused', async () => {
    const results = await weir.pause(asking.flow);
    await whileSuspended(async () => assertRefused(await weir.post(`${asking.flow}/execute`, results)));
    weir.models.will(answer('done'));
    const resumed = await weir.post(`${asking.flow}/execute`, results);
    assert.deepEqual([resumed.status, resumed.body.result], [200, 'done'], JSON.stringify(resumed.body));
    await suspend();
    const again = await weir.post(`${asking.flow}/execute`, results);
    assert.deepEqual([again.status, again.body], [200, resumed.body]);
  });

  it('a request with the Idempotency-Key of one that was accepted before gets its answer', async () => {
    const keys = { 'idempotency-key': randomUUID() };
    const before = await weir.post(`${steps.flow}/execute`, fresh, keys);
    await suspend();
    const again = await weir.post(`${steps.flow}/execute`, fresh, keys);
    assert.deepEqual([again.status, again.body], [200, before.body]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
  });

  it('no run is run again, one or many', async () => {
    const { flow, executionId } = await failOnce();
    const retry = () =>
      weir.post(`/projects/${weir.tenant.projectId}/runs/retry`, { flow: flow.split('/')[2] });
    await whileSuspended(async () => {
      for (const how of ['rerun', 'retry'])
        assertRefused(await weir.post(`${flow}/jobs/${executionId}/${how}`, undefined));
      assertRefused(await retry());
    });
    const { retried, refused } = (await retry()).body;
    assert.deepEqual([retried.length, refused], [1, []]);
  });

  it('no test run starts', async () => {
    const path = asking.draft.replace(/\/draft$/, '');
    const expectation = { type: 'equals', value: 'm' };
    const testCase = { name: 'n', message: 'm', expectation };
    assert.equal((await weir.post(`${path}/test-cases`, testCase)).status, 201);
    await suspend();
    assertRefused(await weir.post(`${path}/test-runs`, {}));
    const flowId = path.split('/').at(-1) ?? '';
    const started = weir.db.selectFrom('test_run').where('flow_id', '=', flowId);
    assert.deepEqual(await started.select('id').execute(), []);
  });

  it('runs under way go on, and are polled, followed and cancelled', async () => {
    const ended = await startWaiting();
    const cancelled = await startWaiting();
    await suspend();
    const running = await get(`${asking.flow}/jobs/${ended.executionId}`);
    assert.equal(running.body.status, 'started');
    answer('done')(ended.response);
    const { body } = await weir.finish(asking.flow, ended.executionId, weir.key);
    assert.deepEqual([body.status, body.result], ['completed', 'done']);
    const events = await fetch(`${weir.url}/api/v1/seq/${asking.flow}/jobs/${ended.executionId}/events`, {
      headers: { authorization: `Bearer ${weir.key}` },
    });
    assert.match(await events.text(), /event: run_completed/);
    await weir.post(`${asking.flow}/jobs/${cancelled.executionId}/cancel`, undefined);
    const end = await weir.finish(asking.flow, cancelled.executionId, weir.key);
    assert.equal(end.body.status, 'failed');
  });

  it('a run that was accepted before is started by the reconciler', async () => {
    const { executionId } = await acceptRun(weir, weir.tenant, steps.flow);
    await suspend();
    await reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
    const { body } = await weir.finish(steps.flow, executionId, weir.key);
    assert.equal(body.status, 'completed');
  });

  it('flows are changed and read', async () => {
    await suspend();
    await weir.edit(steps.draft, [passthrough('a'), passthrough('b'), passthrough('c')]);
    await weir.publish(steps.draft);
    assert.equal((await get(steps.draft)).status, 200);
    assert.equal((await get(`/projects/${weir.tenant.projectId}/runs`)).status, 200);
  });
});
