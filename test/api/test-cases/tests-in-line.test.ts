import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { RETRY_AFTER_SECONDS } from '../../../api/http/request-errors.ts';
import { runAllTests, TOOL_WAIT_MS } from '../../../api/test-cases/run-tests.ts';
import { createTestCase, deleteTestCase } from '../../../api/test-cases/test-case.ts';
import { snapshotDraft } from '../../../db/flows/draft-snapshots.ts';
import { TEST_RUNS_UNDER_WAY_MAX } from '../../../db/test-runs/test-runs.ts';
import type { FairQueue } from '../../../platform/limits/fair-queue.ts';
import { llm, passthrough } from '../../blocks.ts';
import { hang } from '../../fakes/model-server.ts';
import { createFullGate } from '../../full-gate.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

describe('test runs that are queued for a permit to start', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());
  afterEach(() => mock.restoreAll());

  /** Starts all tests of a flow, which are refused with the code, and nothing is stored. */
  async function refused(runStarts: FairQueue, code: string, gone?: AbortController) {
    const flowId = await tests.draft([passthrough('a')]);
    await tests.testCase(flowId, { type: 'equals', value: 1 });
    const wait = gone && { gone: gone.signal };
    const started = runAllTests(withGate(runStarts), tests.ada, flowId, wait);
    gone?.abort();
    await assert.rejects(started, { code });
    const stored = tests.weir.db.selectFrom('test_run').select('id').where('flow_id', '=', flowId);
    assert.deepEqual(await stored.execute(), []);
  }

  const withGate = (runStarts: FairQueue) => ({ ...tests.deps, gates: { ...tests.deps.gates, runStarts } });

  it('are refused when there is none, and not stored', async () => {
    await refused(createFullGate({ queuedMax: 0 }), 'SERVICE_BUSY');
  });

  it('are not stored when their caller hangs up in the queue', async () => {
    await refused(createFullGate(), 'REQUEST_TIMEOUT', new AbortController());
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
    const { runStarts } = deps.gates;
    const acquire: FairQueue['acquire'] = (...asked) => {
      over.abort();
      return runStarts.acquire(...asked);
    };
    const early = await runAllTests(withGate({ ...runStarts, acquire }), ada, flowId);
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

  it('run the cases as they are once they have their permit, and are refused when none is left', async () => {
    const { deps, ada } = tests;
    const flowId = await tests.draft([passthrough('a')]);
    const expectation = { type: 'equals', value: 'after' };
    const kept = await tests.testCase(flowId, expectation, { name: 'kept', message: 'before' });
    const deleted = await tests.testCase(flowId, expectation);
    const meanwhile = (work: () => Promise<unknown>) => {
      const { runStarts } = deps.gates;
      const acquire: FairQueue['acquire'] = async (...asked) => {
        await work();
        return runStarts.acquire(...asked);
      };
      return withGate({ ...runStarts, acquire });
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
