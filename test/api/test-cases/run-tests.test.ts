import assert from 'node:assert/strict';
import { createOpenRequests } from '../../../api/http/open-requests.ts';
import { traceRun } from '../../../api/mcp/trace-run.ts';
import { runAllTests, runTestCase } from '../../../api/test-cases/run-tests.ts';
import { createTestCase, deleteTestCase } from '../../../api/test-cases/test-case.ts';
import { updateDraft } from '../../../db/flows/flows.ts';
import { listVersions, publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { insertOrganization } from '../../../db/tenants/organizations.ts';
import { listTestCases } from '../../../db/test-runs/test-cases.ts';
import { SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import { waitsForBytes } from '../http/waits-for-bytes.ts';
import { callerWith, startTestsWeir, type TestsWeir } from './tests-harness.ts';

const MISSING = '00000000-0000-4000-8000-000000000000';

describe('test runs', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());

  it('count the cases of others that have not begun against the quota of runs under way', async () => {
    const { deps, ada, weir, tenant } = tests;
    const flows = await Promise.all(
      ['1', '2', '3'].map((text) => tests.draft([code('a', `return ${text};`)])),
    );
    for (const flowId of flows) await tests.testCase(flowId, { type: 'equals', value: 1 });
    await updateRunsUnderWayMax(weir.db, tenant.organizationId, 1);
    const answers = await Promise.allSettled(flows.map((flowId) => runAllTests(deps, ada, flowId)));
    await updateRunsUnderWayMax(weir.db, tenant.organizationId, null);
    const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    assert.deepEqual(
      refused.map(({ code, retryAfterSeconds }) => [code, retryAfterSeconds > 0]),
      Array.from({ length: 2 }, () => ['RATE_LIMITED', true]),
    );
  });

  it('wait until their organization may hold a large draft', async () => {
    const { deps, ada, tenant, weir } = tests;
    const large = passthrough('a', { prompt: 'x'.repeat(SMALL_BYTES) });
    const flowId = await tests.draft([large, code('b', 'return (')]);
    await tests.testCase(flowId, { type: 'equals', value: 1 });
    const run = () => runAllTests(deps, ada, flowId);
    await assert.rejects(waitsForBytes(weir.httpGates, tenant.organizationId, run), { code: 'INVALID_TREE' });
  });

  it('that a caller waits for are requests held open: one too many begins nothing', async () => {
    const { ada, weir, models } = tests;
    const deps = { ...tests.deps, openRequests: createOpenRequests(1) };
    const flowId = await tests.draft([llm('a', 'm', 'demo/chat')]);
    await tests.testCase(flowId, { type: 'equals', value: 'x' });
    models.will(hang);
    const asked = models.nextCall();
    const first = runAllTests(deps, ada, flowId);
    const response = await asked;
    await assert.rejects(runAllTests(deps, ada, flowId), { code: 'RATE_LIMITED' });
    answer('x')(response);
    assert.equal((await first).passed, 1);
    const runs = weir.db.selectFrom('test_run').select('id').where('flow_id', '=', flowId);
    assert.equal((await runs.execute()).length, 1);
  });

  it('run the draft, which is not a version, and are charged like other runs', async () => {
    const { deps, ada, weir, models, tenant } = tests;
    const balance = async () =>
      (
        await weir.db
          .selectFrom('organization')
          .select('balance_microcredits')
          .where('id', '=', tenant.organizationId)
          .executeTakeFirstOrThrow()
      ).balance_microcredits;
    const flowId = await tests.draft([code('a', 'return 1;')]);
    await publishVersion(weir.db, flowId, 'one');
    await updateDraft(weir.db, flowId, { steps: [llm('a', 'two', 'demo/chat')] });
    const id = await tests.testCase(flowId, { type: 'equals', value: 'two' });
    const before = await balance();
    models.will(answer('two'), answer('two'));
    const [first, second] = [await runTestCase(deps, ada, id), await runTestCase(deps, ada, id)];
    assert.deepEqual([first.passed, second.passed], [1, 1]);
    assert.equal(before - (await balance()), Math.round((first.cost + second.cost) * 1e6));
    assert.notEqual(before, await balance());

    assert.equal(await publishVersion(weir.db, flowId, 'two'), 2);
    assert.deepEqual(
      (await listVersions(weir.db, flowId)).map(({ version }) => version),
      [2, 1],
    );
    const rows = await weir.db
      .selectFrom('run')
      .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
      .select(['mode', 'environment', 'flow_version_id', 'version'])
      .where('run.flow_id', '=', flowId)
      .execute();
    assert.deepEqual(
      rows.map((row) => [row.mode, row.environment, row.version]),
      [
        ['test', 'test', null],
        ['test', 'test', null],
      ],
    );
    assert.equal(rows[0]?.flow_version_id, rows[1]?.flow_version_id, 'the same content is kept once');
  });

  it('run a published version or the one in production when asked, which the test run and the runs name', async () => {
    const { deps, ada, weir } = tests;
    const flowId = await tests.draft([code('a', 'return 1;')]);
    const id = await tests.testCase(flowId, { type: 'equals', value: 1 });
    await assert.rejects(runTestCase(deps, ada, id, { version: 'production' }), { code: 'VALIDATION_ERROR' });
    await publishVersion(weir.db, flowId, 'one');
    await updateDraft(weir.db, flowId, { steps: [code('a', 'return 2;')] });
    assert.equal(await publishVersion(weir.db, flowId, 'two'), 2);
    await setProductionVersion(weir.db, flowId, 2);
    // An unfinished draft is no obstacle.
    await updateDraft(weir.db, flowId, { steps: [llm('a', 'm', '')] });
    const [first, production] = [
      await runTestCase(deps, ada, id, { version: 1 }),
      await runAllTests(deps, ada, flowId, { version: 'production' }),
    ];
    assert.deepEqual([first.version, first.passed], [1, 1]);
    assert.deepEqual([production.version, production.failed], [2, 1]);
    await assert.rejects(runTestCase(deps, ada, id), { code: 'INVALID_TREE' });
    for (const version of [3, 7])
      await assert.rejects(runTestCase(deps, ada, id, { version }), {
        code: 'VALIDATION_ERROR',
        message: RegExp(`there is no version ${version}`),
      });
    const rows = await weir.db
      .selectFrom('run')
      .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
      .select(['flow_version.version'])
      .where('run.flow_id', '=', flowId)
      .orderBy('version')
      .execute();
    assert.deepEqual(
      rows.map(({ version }) => version),
      [1, 2],
    );
  });

  it('are listed and read over HTTP as runs of version 0, whose fork goes on with the draft', async () => {
    const { weir, tenant } = tests;
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const { id } = await weir.db
      .selectFrom('flow')
      .select('id')
      .where('slug', '=', flow.split('/')[2] ?? '')
      .executeTakeFirstOrThrow();
    const testCase = await tests.testCase(id, { type: 'equals', value: 'hello' });
    const [result] = (await runTestCase(tests.deps, tests.ada, testCase)).results;
    const { key } = tenant;
    const listed = await weir.call('GET', `${flow}/runs?mode=test`, { key });
    assert.deepEqual(
      listed.body.runs.map((row: { executionId: string; version: number }) => [row.executionId, row.version]),
      [[result?.flow_run_id, 0]],
    );
    const job = await weir.call('GET', `${flow}/jobs/${result?.flow_run_id}`, { key });
    assert.deepEqual([job.body.mode, job.body.version, job.body.result], ['test', 0, 'hello']);
    const fork = await weir.call('GET', `${flow}/jobs/${result?.flow_run_id}/fork?step=0`, { key });
    assert.deepEqual([fork.status, fork.body.version, fork.body.message], [200, 0, 'hello']);
    const v0 = await weir.call('POST', `${flow}/v0/execute`, { key, body: { message: 'm' } });
    assert.deepEqual([v0.status, v0.body.detail.code], [400, 'INVALID_VERSION']);
  });

  it('run all cases of a flow, eight at a time, and sum them up in their order', async () => {
    const flowId = await tests.draft([llm('a', '{{message}}', 'demo/chat')]);
    const expectations = ['one', 'two', 'three', ...Array(7).fill('one')].map((value) => ({
      type: 'equals',
      value,
    }));
    const ids: string[] = [];
    for (const expectation of expectations) ids.push(await tests.testCase(flowId, expectation));
    const { models, weir } = tests;
    const held: Parameters<typeof hang>[0][] = [];
    const eight = Promise.withResolvers<void>();
    models.will(
      ...expectations.map(() => (response: (typeof held)[number]) => {
        held.push(response);
        if (held.length === 8) eight.resolve();
        if (held.length > 8) answer('one')(response);
      }),
    );
    const running = runAllTests(tests.deps, tests.ada, flowId);
    await eight.promise;
    assert.equal(held.length, 8);
    // Nothing else is begun while eight are under way, as the engine knows; those that follow are answered at once.
    const { id } = await weir.db
      .selectFrom('test_run')
      .select('id')
      .where('flow_id', '=', flowId)
      .executeTakeFirstOrThrow();
    const { events } = await weir.client.workflow.getHandle(id).fetchHistory();
    const begun = events?.filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'acceptTest',
    );
    assert.equal(begun?.length, 8);
    for (const response of held.slice(0, 8)) answer('one')(response);
    const { passed, failed, errors, pending, total, status, results } = await running;
    assert.deepEqual([total, passed, failed, errors, pending, status], [10, 8, 2, 0, 0, 'completed']);
    assert.deepEqual(
      results.map((result) => result.test_case_id),
      ids,
    );
    assert.deepEqual(
      results.map((result) => result.status),
      ['passed', 'failed', 'failed', ...Array(7).fill('passed')],
    );
  });

  describe('are refused', () => {
    it('while the draft cannot run, with each problem', async () => {
      const flowId = await tests.draft([llm('a', '', 'nothing'), code('b', '')]);
      const id = await tests.testCase(flowId, { type: 'equals', value: 1 });
      const expected = (error: { code: string; message: string }) =>
        error.code === 'INVALID_TREE' &&
        ['steps[0].model', 'steps[0].prompt', 'steps[1].prompt'].every((path) =>
          error.message.includes(path),
        );
      await assert.rejects(runTestCase(tests.deps, tests.ada, id), expected);
      await assert.rejects(runAllTests(tests.deps, tests.ada, flowId), expected);
    });

    it('without credits', async () => {
      const poor = await tests.weir.createTenant({ credits: 0 });
      const caller = callerWith({ projectId: poor.projectId });
      const flowId = await tests.draft([passthrough('a')], poor);
      const input = { flow_id: flowId, name: 'n', message: '', expectation: { type: 'equals', value: 1 } };
      await createTestCase(tests.deps, caller, input as never);
      await assert.rejects(runAllTests(tests.deps, caller, flowId), { code: 'INSUFFICIENT_CREDITS' });
    });

    it('for a flow without cases', async () => {
      const flowId = await tests.draft([passthrough('a')]);
      await assert.rejects(runAllTests(tests.deps, tests.ada, flowId), { code: 'CONFLICT' });
    });
  });

  it('of others answer as if they did not exist', async () => {
    const { deps } = tests;
    const flowId = await tests.draft([passthrough('a')]);
    const id = await tests.testCase(flowId, { type: 'equals', value: 'hello' });
    const { results, test_run_id } = await runTestCase(deps, tests.ada, id);
    const { id: other } = await insertOrganization(tests.weir.db, { slug: 'other', name: 'Other' });
    assert(other);
    const messageOf = (work: Promise<unknown>) =>
      work.then(
        () => assert.fail('answered'),
        (error: { code: string; message: string }) => [error.code, error.message],
      );
    const eve = callerWith({ userId: 'eve' });
    const input = { flow_id: flowId, name: 'n', message: '', expectation: { type: 'equals', value: 1 } };
    const asks: [(id: string) => Promise<unknown>, string][] = [
      [(known) => runTestCase(deps, eve, known), id],
      [(known) => runAllTests(deps, eve, known), flowId],
      [(known) => deleteTestCase(deps, eve, known), id],
      [(known) => createTestCase(deps, eve, { ...input, flow_id: known } as never), flowId],
      [(known) => traceRun(deps, eve.access, { flow_run_id: known }), results[0]?.flow_run_id ?? ''],
      [(known) => traceRun(deps, eve.access, { flow_run_id: known }), test_run_id],
    ];
    for (const [ask, known] of asks)
      assert.deepEqual(await messageOf(ask(known)), await messageOf(ask(MISSING)));
    assert.equal((await listTestCases(deps.db, flowId)).length, 1);
  });
});
