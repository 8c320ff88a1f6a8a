// The quota of runs under way, for runs of drafts and for calls that go on with a run.
import assert from 'node:assert/strict';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { passthrough } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import type { Answer } from '../../harness.ts';
import { ASK, type Draft, type DraftWeir, startDraftWeir } from './draft-harness.ts';

describe('the quota of runs under way refuses', () => {
  let weir: DraftWeir;
  let busy: Draft;
  before(async () => {
    weir = await startDraftWeir();
    busy = await weir.createDraft([ASK]);
    await weir.publish(busy.draft);
  });
  after(() => weir.stop());

  const setQuota = (most: number | null) => updateRunsUnderWayMax(weir.db, weir.tenant.organizationId, most);
  /** Does `work` while the quota, 1, is used up by a run that waits for its model. */
  async function whileFull(work: () => Promise<void>): Promise<void> {
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const { executionId } = (await weir.post(`${busy.flow}/jobs`, { message: 'm' })).body;
    await asked;
    await setQuota(1);
    await work();
    await weir.post(`${busy.flow}/jobs/${executionId}/cancel`, undefined);
    await weir.finish(busy.flow, executionId, weir.key);
  }
  function assertRefused({ status, body, headers }: Answer): void {
    assert.deepEqual([status, body.detail?.code], [429, 'RATE_LIMITED'], JSON.stringify(body));
    assert.match(body.detail.message, /^The organization has 1 runs under way, as many as it may have\./);
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  }
  const countRows = async () => (await weir.db.selectFrom('run').select('execution_id').execute()).length;
  afterEach(() => setQuota(null));

  it('runs of drafts', async () => {
    const { draft } = await weir.createDraft([passthrough('a')]);
    await whileFull(async () => {
      const before = await countRows();
      const metrics = captureMetrics();
      for (const path of ['runs', 'execute'])
        assertRefused(await weir.post(`${draft}/${path}`, { message: 'm' }));
      const first = { executionId: null, stepIndex: 0, message: 'm' };
      assertRefused(await weir.post(`${draft}/step`, first));
      assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=runs_under_way'], 3);
      metrics.stop();
      assert.equal(await countRows(), before);
    });
    assert.equal((await weir.post(`${draft}/execute`, { message: 'm' })).body.status, 'completed');
  });

  it('resumes, which leave the run paused: as many as wait for their caller cannot go on at once', async () => {
    const resume = await weir.pause(busy.flow);
    await whileFull(async () => {
      const before = await countRows();
      assertRefused(await weir.post(`${busy.flow}/execute`, resume));
      assert.equal(await countRows(), before);
    });
    weir.models.will(answer('done'));
    const resumed = await weir.post(`${busy.flow}/execute`, resume);
    assert.deepEqual([resumed.status, resumed.body.result], [200, 'done'], JSON.stringify(resumed.body));
  });

  it('no resume that is sent again', async () => {
    const resume = await weir.pause(busy.flow);
    weir.models.will(answer('done'));
    const { body } = await weir.post(`${busy.flow}/execute`, resume);
    await whileFull(async () => {
      const again = await weir.post(`${busy.flow}/execute`, resume);
      assert.deepEqual([again.status, again.body], [200, body]);
    });
  });

  it('further calls of a session, which can be made once there is room', async () => {
    const { draft, flow } = await weir.createDraft([passthrough('a'), passthrough('b')]);
    await weir.publish(draft);
    const [started] = await weir.step(flow, { executionId: null, stepIndex: 0, message: 'm' });
    const { executionId } = started?.data ?? {};
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
    await whileFull(async () => {
      const before = await countRows();
      assertRefused(await weir.post(`${flow}/step`, next));
      assert.equal(await countRows(), before);
    });
    const end = (await weir.step(flow, next)).at(-1);
    assert.deepEqual([end?.event, end?.data.result], ['run_completed', 'm']);
  });
});
