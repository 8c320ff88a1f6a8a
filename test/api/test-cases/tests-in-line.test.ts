import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import type { ApiDeps } from '../../../api/deps.ts';
import { createAdmission } from '../../../api/http/admission.ts';
import { RETRY_AFTER_SECONDS } from '../../../api/http/request-errors.ts';
import { runAllTests, TOOL_WAIT_MS } from '../../../api/test-cases/run-tests.ts';
import { createTestCase, deleteTestCase } from '../../../api/test-cases/test-case.ts';
import { snapshotDraft } from '../../../db/flows/draft-snapshots.ts';
import { TEST_RUNS_UNDER_WAY_MAX } from '../../../db/test-runs/test-runs.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { llm, passthrough } from '../../blocks.ts';
import { hang } from '../../fakes/model-server.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

describe('test runs that wait for a place among the runs being started', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());
  afterEach(() => mock.restoreAll());

  /** Starts all tests of a flow, which are refused with the code, and nothing is stored. */
  async function refused(admission: ApiDeps['admission'], code: string, gone?: AbortController) {
    const flowId = await tests.draft([passthrough('a')]);
    await tests.testCase(flowId, { type: 'equals', value: 1 });
    const wait = gone && { gone: gone.signal };
    const started = runAllTests({ ...tests.deps, admission }, tests.ada, flowId, wait);
    gone?.abort();
    await assert.rejects(started, { code });
    const stored = tests.weir.db.selectFrom('test_run').select('id').where('flow_id', '=', flowId);
    assert.deepEqual(await stored.execute(), []);
  }

  it('are refused when there is none, and not stored', async () => {
    const busy = new ServiceError('SERVICE_BUSY', 'Too many runs wait to be started.');
    await refused({ enter: () => Promise.reject(busy) }, 'SERVICE_BUSY');
  });

  it('are not stored when their caller hangs up in line', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: 3_600_000 });
    const { signal } = new AbortController();
    for (let place = 0; place < 32; place += 1)
      await admission.enter(tests.tenant.organizationId, () => signal);
    await refused(admission, 'REQUEST_TIMEOUT', new AbortController());
    admission.stopMeasuring();
  });

  it('answer how they stand when the time is up that began before they were in line', async () => {
    const { deps, ada, models } = tests;
    const flowId = await tests.draft([llm('a', 'x', 'demo/chat')]);
    await tests.testCase(flowId, { type: 'contains', text: 'late' });
    models.will(hang);
    const over = new AbortController();
    const { timeout } = AbortSignal;
    mock.method(AbortSignal, 'timeout', (ms: number) => {
      if (ms !== TOOL_WAIT_MS) return timeout.call(AbortSignal, ms);
      assert(!over.signal.aborted, 'the time begins only now');
      return AbortSignal.any([over.signal]);
    });
    const enter: typeof deps.admission.enter = (...asked) => {
      over.abort();
      return deps.admission.enter(...asked);
    };
    const early = await runAllTests({ ...deps, admission: { ...deps.admission, enter } }, ada, flowId);
    assert.deepEqual([early.status, early.pending], ['started', 1]);
    await tests.weir.client.workflow.getHandle(early.test_run_id).terminate();
  });

  it('are told when to try again while as many of their flow are under way as may be', async () => {
    const { db } = tests.weir;
    const flowId = await tests.draft([passthrough('a')]);
    await tests.testCase(flowId, { type: 'equals', value: 1 });
    const draft = await snapshotDraft(db, flowId, { steps: [] });
    const underWay = Array.from({ length: TEST_RUNS_UNDER_WAY_MAX }, () => ({
      id: randomUUID(),
      flow_id: flowId,
      flow_version_id: draft,
    }));
    await db.insertInto('test_run').values(underWay).execute();
    await assert.rejects(runAllTests(tests.deps, tests.ada, flowId), {
      code: 'RATE_LIMITED',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
    await db.deleteFrom('test_run').where('flow_id', '=', flowId).execute();
  });

  it('run the cases as they are once they have their place, and are refused when none is left', async () => {
    const { deps, ada } = tests;
    const flowId = await tests.draft([passthrough('a')]);
    const expectation = { type: 'equals', value: 'after' };
    const kept = await tests.testCase(flowId, expectation, { name: 'kept', message: 'before' });
    const deleted = await tests.testCase(flowId, expectation);
    const meanwhile = (work: () => Promise<unknown>) => {
      const enter: typeof deps.admission.enter = async (...asked) => {
        await work();
        return deps.admission.enter(...asked);
      };
      return { ...deps, admission: { ...deps.admission, enter } };
    };
    const change = async () => {
      const input = { flow_id: flowId, name: 'kept', message: 'after', expectation };
      await createTestCase(deps, ada, input as never);
      await deleteTestCase(deps, ada, deleted);
    };
    const { results, passed } = await runAllTests(meanwhile(change), ada, flowId);
    assert.deepEqual([results.map(({ test_case_id }) => test_case_id), passed], [[kept], 1]);
    const nothingLeft = runAllTests(
      meanwhile(() => deleteTestCase(deps, ada, kept)),
      ada,
      flowId,
    );
    await assert.rejects(nothingLeft, { code: 'CONFLICT', message: /were deleted/ });
  });
});
