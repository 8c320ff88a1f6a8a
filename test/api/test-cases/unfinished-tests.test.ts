// Test runs whose caller, workflow or engine has gone, or was never there.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { ApiDeps } from '../../../api/deps.ts';
import { traceRun } from '../../../api/mcp/trace-run.ts';
import { runTestCase } from '../../../api/test-cases/run-tests.ts';
import { findRunStarts } from '../../../db/runs/find-run-starts.ts';
import { acceptTest } from '../../../db/test-runs/test-runs.ts';
import { startRun, startTestRun } from '../../../temporal/start-run.ts';
import { reconcileTestRuns } from '../../../worker/reconciler/reconcile-test-runs.ts';
import { llm, passthrough } from '../../blocks.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

/** With an engine that cannot be reached. */
const away = (deps: ApiDeps) =>
  ({ ...deps, client: { withDeadline: () => Promise.reject(new Error('away')) } }) as unknown as ApiDeps;

describe('test runs', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());

  it('answer how they stand when the time is up, and continue', async () => {
    const flowId = await tests.draft([llm('a', 'x', 'demo/chat')]);
    const id = await tests.testCase(flowId, { type: 'contains', text: 'late' });
    tests.models.will(hang);
    const asked = tests.models.nextCall();
    const early = await runTestCase(tests.deps, tests.ada, id, { waitMs: 300 });
    assert.deepEqual([early.status, early.pending, early.results[0]?.status], ['started', 1, 'pending']);
    answer('late')(await asked);
    await tests.weir.client.workflow.getHandle(early.test_run_id).result();
    const { test_run: end } = await traceRun(tests.deps, tests.ada.access, {
      flow_run_id: early.test_run_id,
    });
    assert.deepEqual([end?.status, end?.passed], ['completed', 1]);
  });

  it('go on elsewhere when the worker of a step around a case is lost: each has heartbeats', async () => {
    const flowId = await tests.draft([passthrough('a')]);
    const id = await tests.testCase(flowId, { type: 'judge', criteria: 'polite', model: 'demo/judge' });
    tests.models.will(answer(JSON.stringify({ reason: 'because', passed: true })));
    const { test_run_id } = await runTestCase(tests.deps, tests.ada, id);
    const { events } = await tests.weir.client.workflow.getHandle(test_run_id).fetchHistory();
    const scheduled = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    assert.deepEqual(
      scheduled.map(({ activityType, heartbeatTimeout }) => [
        activityType?.name,
        Number(heartbeatTimeout?.seconds) > 0,
      ]),
      [
        ['acceptTest', true],
        ['evaluateTest', true],
        ['readJudgement', true],
      ],
    );
  });

  describe('that were accepted', () => {
    it('are started by the reconciler when their workflow is missing', async () => {
      const flowId = await tests.draft([passthrough('a')]);
      const id = await tests.testCase(flowId, { type: 'equals', value: 'hello' });
      const { weir } = tests;
      const accepted = await runTestCase(away(tests.deps), tests.ada, id);
      assert.deepEqual([accepted.status, accepted.pending], ['started', 1]);
      await reconcileTestRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
      await weir.client.workflow.getHandle(accepted.test_run_id).result();
      const { test_run: end } = await traceRun(tests.deps, tests.ada.access, {
        flow_run_id: accepted.test_run_id,
      });
      assert.deepEqual([end?.status, end?.passed], ['completed', 1]);
    });

    it('take the run of a case that the reconciler has started before', async () => {
      const flowId = await tests.draft([llm('a', 'x', 'demo/chat')]);
      const id = await tests.testCase(flowId, { type: 'equals', value: 'early' });
      const { db, client, config } = tests.weir;
      const { test_run_id, results } = await runTestCase(away(tests.deps), tests.ada, id);
      const executionId = results[0]?.flow_run_id ?? '';
      await acceptTest(db, executionId);
      tests.models.will(hang);
      const asked = tests.models.nextCall();
      const [run] = await findRunStarts(db, [executionId]);
      assert(run);
      const engine = { db, client, taskQueue: config.taskQueue };
      await startRun(engine, run);
      const response = await asked;
      await startTestRun(engine, test_run_id);
      const handle = client.workflow.getHandle(test_run_id);
      const found = async () =>
        (await handle.fetchHistory()).events?.some(
          (event) => event.startChildWorkflowExecutionFailedEventAttributes,
        );
      await waitUntil(found);
      answer('early')(response);
      await handle.result();
      const { test_run: end } = await traceRun(tests.deps, tests.ada.access, { flow_run_id: test_run_id });
      assert.deepEqual([end?.passed, end?.results[0]?.flow_run_id], [1, executionId]);
    });

    it('end when their workflow was terminated, with errors for the cases that are left', async () => {
      const flowId = await tests.draft([llm('a', 'x', 'demo/chat')]);
      const id = await tests.testCase(flowId, { type: 'contains', text: 'never' });
      const { weir } = tests;
      tests.models.will(hang);
      const asked = tests.models.nextCall();
      const running = runTestCase(tests.deps, tests.ada, id, { waitMs: 20_000 });
      const response = await asked;
      const [row] = await weir.db.selectFrom('test_run').select('id').where('flow_id', '=', flowId).execute();
      await weir.client.workflow.getHandle(row?.id ?? '').terminate();
      assert.equal((await running).status, 'started');
      const read = () => traceRun(tests.deps, tests.ada.access, { flow_run_id: row?.id ?? '' });
      // The engine lists a workflow as open for a moment after its end.
      await waitUntil(async () => {
        await reconcileTestRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
        return (await read()).test_run?.status === 'completed';
      });
      assert.equal((await read()).test_run?.errors, 1);
      // The worker would wait for it when it stops.
      answer('late')(response);
    });

    it('end when they were cancelled and no worker has heard of that for five minutes', async () => {
      const flowId = await tests.draft([passthrough('a')]);
      const id = await tests.testCase(flowId, { type: 'equals', value: 'hello' });
      const { weir } = tests;
      const { test_run_id } = await runTestCase(away(tests.deps), tests.ada, id);
      // No worker polls this task queue.
      await startTestRun({ ...tests.deps, taskQueue: 'nobody' }, test_run_id);
      const cancel = (minutes: number) =>
        sql`update test_run set cancel_requested_at = now() - ${minutes} * interval '1 minute'
          where id = ${test_run_id}`.execute(weir.db);
      const reconcile = async () => {
        await reconcileTestRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
        return (await traceRun(tests.deps, tests.ada.access, { flow_run_id: test_run_id })).test_run?.status;
      };
      await cancel(4);
      assert.equal(await reconcile(), 'started');
      await cancel(6);
      assert.notEqual(await reconcile(), 'started');
    });

    it('end with a case whose run was cancelled as an error', async () => {
      const flow = await tests.weir.createFlow(tests.tenant, [llm('a', 'x', 'demo/chat')]);
      const { id: flowId } = await tests.weir.db
        .selectFrom('flow')
        .select('id')
        .where('slug', '=', flow.split('/')[2] ?? '')
        .executeTakeFirstOrThrow();
      const id = await tests.testCase(flowId, { type: 'contains', text: 'never' });
      tests.models.will(hang);
      const asked = tests.models.nextCall();
      const running = runTestCase(tests.deps, tests.ada, id);
      await asked;
      const { body } = await tests.weir.call('GET', `${flow}/runs?mode=test`, { key: tests.tenant.key });
      const path = `${flow}/jobs/${body.runs[0].executionId}/cancel`;
      await tests.weir.call('POST', path, { key: tests.tenant.key });
      const [result] = (await running).results;
      assert.equal(result?.status, 'error');
      assert.match(result?.why ?? '', /cancelled/);
    });
  });
});
