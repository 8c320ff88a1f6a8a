import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { snapshotDraft } from '../../../db/flows/draft-snapshots.ts';
import { listResultsOf } from '../../../db/test-runs/test-results.ts';
import { requestTestRunCancel } from '../../../db/test-runs/test-run-cancellation.ts';
import {
  finishTestRun,
  getTest,
  insertTestRun,
  listTestRuns,
  recordVerdict,
  TEST_RUNS_UNDER_WAY_MAX,
} from '../../../db/test-runs/test-runs.ts';
import { createFlow } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('the test runs of a flow', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** A flow with one test case. `start` accepts a test run of it, and answers whether it was new. */
  async function createTested() {
    const { db } = database;
    const { id: flowId } = await createFlow(db);
    const flowVersionId = await snapshotDraft(db, flowId, { steps: [] });
    const { rows } = await sql<{ id: string }>`insert into test_case (flow_id, name, input, expectation)
      values (${flowId}, 'case', '{"message":"long"}', '{"type":"contains","text":"long"}') returning id`.execute(
      db,
    );
    const testCaseId = rows[0]?.id as string;
    const start = (id: string, executionId: string = randomUUID()) =>
      insertTestRun(db, {
        id,
        flowId,
        flowVersionId,
        startedBy: 'ada',
        tests: [{ executionId, testCaseId }],
      });
    return { start, flowId };
  }

  it('are refused while as many are under way as may be, but not their repetitions or those of another flow', async () => {
    const { start } = await createTested();
    const ids = Array.from({ length: TEST_RUNS_UNDER_WAY_MAX }, () => randomUUID());
    for (const id of ids) assert.equal(await start(id), true);
    await assert.rejects(start(randomUUID()), { code: 'RATE_LIMITED', message: /20 test runs of the flow/ });
    assert.equal(await start(ids[0] as string), false);
    assert.equal(await (await createTested()).start(randomUUID()), true);
    await finishTestRun(database.db, ids[0] as string);
    assert.equal(await start(randomUUID()), true);
  });

  it('have their cases until they end, and then only what came of them', async () => {
    const { db } = database;
    const { start } = await createTested();
    const [testRunId, executionId] = [randomUUID(), randomUUID()];
    await start(testRunId, executionId);
    assert.deepEqual((await getTest(db, executionId)).input, { message: 'long' });
    await finishTestRun(db, testRunId);
    const result = await db
      .selectFrom('test_result')
      .select(['input', 'expectation', 'status'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.deepEqual(result, { input: {}, expectation: {}, status: 'error' });
    await assert.rejects(getTest(db, executionId), { code: 'CANCELLED' });
  });

  it('keep what a case has cost from its verdict on, and from its end on where it is cancelled', async () => {
    const { db } = database;
    const { start, flowId } = await createTested();
    const costs = async () =>
      (await listTestRuns(db, flowId, { limit: 10 })).map((run) => run.cost_microcredits);
    const blocks = async (executionId: string) => {
      await sql`insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input)
        select ${executionId}, organization_id, project_id, flow.id, version.id, 'test', 'test', '{}'
        from flow join project on project.id = project_id join flow_version version on version.flow_id = flow.id
        where flow.id = ${flowId}`.execute(db);
      await sql`insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input,
          cost_microcredits, latency_ms, attempts, started_at, finished_at)
        select ${executionId}::uuid, 'b#' || n, 'b', 'b', 'llm', 'completed', '{"ref":"$message"}', 1, 1, 1, now(), now()
        from generate_series(1, 21) n`.execute(db);
    };
    const [judged, cancelled] = [randomUUID(), randomUUID()];
    await start(randomUUID(), judged);
    await blocks(judged);
    assert.deepEqual(await costs(), [21]);
    await recordVerdict(db, judged, { status: 'passed', why: null });
    const testRunId = randomUUID();
    await start(testRunId, cancelled);
    await blocks(cancelled);
    await db.transaction().execute((tx) => requestTestRunCancel(tx, testRunId));
    await finishTestRun(db, testRunId);
    // What they add up to is not looked at again.
    await sql`delete from block_run`.execute(db);
    assert.deepEqual(await costs(), [21, 21]);
    const results = await listResultsOf(db, [judged, cancelled]);
    assert.deepEqual(
      results.map((result) => result.cost_microcredits),
      [21, 21],
    );
  });
});
