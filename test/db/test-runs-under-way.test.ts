import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { snapshotDraft } from '../../db/flows/draft-snapshots.ts';
import {
  finishTestRun,
  getTest,
  insertTestRun,
  TEST_RUNS_UNDER_WAY_MAX,
} from '../../db/test-runs/test-runs.ts';
import { createFlow } from './project-fixture.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

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
    return { start };
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
});
