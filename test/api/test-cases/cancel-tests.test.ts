// Test runs, and runs of test cases, that are cancelled; their flow was never published.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { traceRun } from '../../../api/mcp/trace-run.ts';
import { runAllTests } from '../../../api/test-cases/run-tests.ts';
import { listAuditEntries } from '../../../db/tenants/audit-entries.ts';
import { requestTestRunCancel } from '../../../db/test-runs/test-run-cancellation.ts';
import { acceptJudge, acceptTest } from '../../../db/test-runs/test-runs.ts';
import { judgeFlow } from '../../../flow/test-case.ts';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { reconcileTestRuns } from '../../../worker/reconciler/reconcile-test-runs.ts';
import { llm } from '../../blocks.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { BEGUN, CASES, holdTestRun } from './hold-test-run.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

describe('POST /test-runs/{test_run_id}/cancel', () => {
  let provider: IdentityProvider;
  let tests: TestsWeir;
  before(async () => {
    provider = await startIdentityProvider();
    tests = await startTestsWeir(provider.env);
  });
  beforeEach(() => tests.models.forget());
  after(async () => {
    await tests.stop();
    await provider.close();
  });

  const cancel = async (id: string, user = 'ada') =>
    tests.weir.call('POST', `/test-runs/${id}/cancel`, { key: await provider.token(user) });
  const startHeld = () => holdTestRun(tests);
  const runsOf = (flowId: string) =>
    tests.weir.db
      .selectFrom('run')
      .select(['execution_id', 'status', 'error'])
      .where('flow_id', '=', flowId)
      .execute();

  it('ends the runs of its cases, begins no other, charges nothing, and is recorded once in the audit log', async () => {
    const { id, flowId, running, before } = await startHeld();
    const first = await cancel(id);
    assert.equal(first.status, 202, JSON.stringify(first.body));
    assert.equal(first.body.test_run_id, id);
    const end = await running;
    assert.deepEqual([end.status, end.errors, end.pending, end.cost], ['cancelled', CASES, 0, 0]);
    for (const { why } of end.results) assert.match(why ?? '', /cancelled/);
    const runs = await runsOf(flowId);
    assert.deepEqual(
      runs.map(({ error }) => error?.code),
      Array.from({ length: BEGUN }, () => 'CANCELLED'),
    );
    assert.equal(tests.models.calls.length, before + BEGUN);
    const again = await cancel(id);
    assert.deepEqual([again.status, again.body.status, again.body.errors], [200, 'cancelled', CASES]);
    const entries = await listAuditEntries(tests.weir.db, tests.tenant.organizationId, { limit: 50 });
    assert.deepEqual(
      entries.filter(({ resource_id }) => resource_id === id).map(({ action, actor }) => [action, actor]),
      [
        ['test_run.cancel', 'ada'],
        ['test_run.start', 'ada'],
      ],
    );
  });

  it('accepts the API key of its project, and answers others as if the test run did not exist', async () => {
    const { id, running } = await startHeld();
    const stranger = await tests.weir.createTenant();
    const path = (of: string) => `/test-runs/${of}/cancel`;
    const unknown = await tests.weir.call('POST', path(randomUUID()), { key: stranger.key });
    for (const answered of [
      await tests.weir.call('POST', path(id), { key: stranger.key }),
      await tests.weir.call('POST', path('x'), { key: tests.tenant.key }),
      await cancel(id, 'eve'),
    ])
      assert.deepEqual([answered.status, answered.body], [404, unknown.body]);
    assert.equal((await tests.weir.call('POST', path(id), {})).status, 401);
    assert.equal((await tests.weir.call('POST', path(id), { key: tests.tenant.key })).status, 202);
    assert.equal((await running).status, 'cancelled');
  });

  it('refuses the run of a case that comes at that moment, and every judge', async () => {
    const { id, flowId, running } = await startHeld();
    const next = await tests.weir.db
      .selectFrom('test_result')
      .select('execution_id')
      .where('test_run_id', '=', id)
      .where('position', '=', CASES - 1)
      .executeTakeFirstOrThrow();
    await assert.rejects(
      duringTransaction(
        tests.weir.db,
        (tx) => requestTestRunCancel(tx, id),
        () => acceptTest(tests.weir.db, next.execution_id),
      ),
      { code: 'CANCELLED' },
    );
    const input = { message: 'an answer', parameters: {} };
    await assert.rejects(acceptJudge(tests.weir.db, next.execution_id, judgeFlow('demo/chat'), input), {
      code: 'CANCELLED',
    });
    await cancel(id);
    await running;
    assert.equal((await runsOf(flowId)).length, BEGUN);
  });

  it('is stored while the engine is away, and carried out when it is back', async () => {
    const { id, running } = await startHeld();
    const { db, client, config } = tests.weir;
    const { withDeadline } = client;
    client.withDeadline = () => Promise.reject(new Error('away'));
    try {
      assert.equal((await cancel(id)).status, 202);
    } finally {
      client.withDeadline = withDeadline;
    }
    const workers = { db, client, taskQueue: config.taskQueue };
    await reconcileTestRuns(workers, 0);
    await reconcileRuns(workers, 0);
    assert.equal((await running).status, 'cancelled');
  });

  it('ends a test run that has no workflow yet, and none is started', async () => {
    const flowId = await tests.draft([llm('a', 'x', 'demo/chat')]);
    await tests.testCase(flowId, { type: 'contains', text: 'never' });
    const away = {
      ...tests.deps,
      client: { withDeadline: () => Promise.reject(new Error('away')) },
    } as never;
    const { test_run_id: id } = await runAllTests(away, tests.ada, flowId);
    const { status } = await cancel(id);
    assert.equal(status, 202);
    const { db, client, config } = tests.weir;
    await reconcileTestRuns({ db, client, taskQueue: config.taskQueue }, 0);
    const { test_run } = await traceRun(tests.deps, tests.ada.access, { flow_run_id: id });
    assert.deepEqual([test_run?.status, test_run?.errors], ['cancelled', 1]);
    assert.deepEqual(await runsOf(flowId), []);
  });

  it('comes with the deletion of the project; no further case begins', async () => {
    const { flowId, running } = await startHeld();
    const { projectId, organizationId } = tests.tenant;
    await tests.weir.db
      .updateTable('membership')
      .set({ role: 'owner' })
      .where('organization_id', '=', organizationId)
      .execute();
    const deleted = await tests.weir.call('DELETE', `/projects/${projectId}`, {
      key: await provider.token('ada'),
    });
    assert.deepEqual(deleted.body.cancelled, { runs: 0, testRuns: 1, deliveries: 0 });
    assert.equal((await running).status, 'cancelled');
    assert.equal((await runsOf(flowId)).length, BEGUN);
  });
});
