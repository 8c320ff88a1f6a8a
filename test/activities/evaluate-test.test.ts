import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { sql } from 'kysely';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import { createActivities } from '../../activities/index.ts';
import type { Db } from '../../db/connect.ts';
import { finishRun } from '../../db/runs/runs.ts';
import { getTest } from '../../db/test-runs/test-runs.ts';
import { RUN_TESTS } from '../../flow/test-case.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { ACTIVITY_BYTES_EACH, SMALL_BYTES } from '../../platform/limits/gates.ts';
import { captureLog } from '../capture-log.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase } from '../db/test-database.ts';
import { waitUntil } from '../wait-until.ts';
import { inActivity } from './in-activity.ts';
import { createTestGates } from './test-gates.ts';

describe('the verdict on a test case', () => {
  const gates = createTestGates();
  const deps = { gates, inProcessRuns: {} } as unknown as ActivityDeps;
  const context = (activityType: string) => ({
    info: {
      attempt: 1,
      isLocal: false,
      workflowType: RUN_TESTS,
      workflowExecution: { workflowId: randomUUID() },
      activityType,
    },
    cancellationSignal: new AbortController().signal,
    heartbeat: () => undefined,
  });

  /** Inserts a run that is of a test case; answers its id. */
  async function insertTested(db: Db): Promise<string> {
    const { runs } = await openAccount(db, 0, 1);
    const executionId = runs[0] as string;
    const testRunId = randomUUID();
    await sql`
      insert into test_run (id, flow_id, flow_version_id)
      select ${testRunId}, flow_id, flow_version_id from run where execution_id = ${executionId}`.execute(db);
    await sql`
      insert into test_result (test_run_id, test_case_id, position, name, execution_id, input, expectation)
      values (${testRunId}, ${randomUUID()}, 0, 'case', ${executionId}, '{}', '{"type":"equals","value":1}')`.execute(
      db,
    );
    return executionId;
  }

  it('is tried again while the run has not ended, which is not logged', async () => {
    const database = await createTestDatabase();
    const captured = captureLog();
    try {
      const { db } = database;
      const executionId = await insertTested(db);
      const activities = createActivities({ ...deps, db });
      await assert.rejects(
        inActivity(context('evaluateTest'), () => activities.evaluateTest(executionId)),
        (error) =>
          error instanceof ApplicationFailure && error.type === 'RUN_NOT_ENDED' && !error.nonRetryable,
      );
      assert.deepEqual(captured.lines, []);
    } finally {
      captured.stop();
      await database.drop();
    }
  });

  it('acquires the bytes of the message that a flow without steps answers', async () => {
    const database = await createTestDatabase();
    try {
      const { db } = database;
      const executionId = await insertTested(db);
      const message = 'x'.repeat(SMALL_BYTES);
      await db
        .updateTable('run')
        .set({ input: JSON.stringify({ message }) })
        .where('execution_id', '=', executionId)
        .execute();
      await finishRun(db, executionId, { status: 'completed', result: { ref: MESSAGE_REF } });
      const { organizationId } = await getTest(db, executionId);
      const permit = await gates.inputs.acquire(organizationId, { weight: ACTIVITY_BYTES_EACH });
      const validator = { of: () => undefined } as never;
      const activities = createActivities({ ...deps, db, validator });
      const judging = inActivity(context('evaluateTest'), () => activities.evaluateTest(executionId));
      await waitUntil(() => gates.inputs.count().queued > 0);
      permit.release();
      await judging;
      const { rows } = await sql<{ status: string }>`select status from test_result`.execute(db);
      assert.deepEqual(rows, [{ status: 'failed' }]);
    } finally {
      await database.drop();
    }
  });
});
