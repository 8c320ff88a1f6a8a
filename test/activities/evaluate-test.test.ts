import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { sql } from 'kysely';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import { createSlots } from '../../activities/attempts/in-slot.ts';
import { createActivities } from '../../activities/index.ts';
import type { Db } from '../../db/connect.ts';
import { finishRun } from '../../db/runs/runs.ts';
import { getTest } from '../../db/test-runs/test-runs.ts';
import { RUN_TESTS } from '../../flow/test-case.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { ACTIVITIES_SHARE_BYTES, createLargeValues } from '../../platform/large-values/large-values.ts';
import { SMALL_BYTES } from '../../platform/limits/byte-budget.ts';
import { LARGE_BYTES } from '../../platform/limits/large-work.ts';
import { captureLog } from '../capture-log.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase } from '../db/test-database.ts';
import { waitUntil } from '../wait-until.ts';
import { inActivity } from './in-activity.ts';

describe('the verdict on a test case', () => {
  const verdicts = createSlots({ places: 1, reserve: 0 });
  const deps = { slots: { verdicts }, inProcessRuns: {} } as ActivityDeps;
  const { evaluateTest, readJudgement } = createActivities(deps);
  const context = (activityType: string) => ({
    info: {
      attempt: 1,
      isLocal: false,
      workflowType: RUN_TESTS,
      workflowExecution: { workflowId: randomUUID() },
      activityType,
      priority: { fairnessKey: 'acme' },
    },
    cancellationSignal: new AbortController().signal,
    heartbeat: () => undefined,
  });

  for (const activity of [evaluateTest, readJudgement])
    it(`goes back to the engine when its organization has as many under way as it may have: ${activity.name}`, async () => {
      const endSlot = verdicts.takeNow('acme');
      await assert.rejects(
        inActivity(context(activity.name), () => activity(randomUUID())),
        (error) =>
          error instanceof ApplicationFailure && error.type === 'WAITS_FOR_SLOT' && !error.nonRetryable,
      );
      endSlot?.();
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

  it('waits for memory for the message that a flow without steps answers', async () => {
    const database = await createTestDatabase();
    const largeValues = createLargeValues();
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
      const giveBack = await largeValues.inputs.take(organizationId, ACTIVITIES_SHARE_BYTES);
      const validator = { of: () => undefined } as never;
      const activities = createActivities({ ...deps, db, largeValues, validator });
      const judging = inActivity(context('evaluateTest'), () => activities.evaluateTest(executionId));
      await waitUntil(() => largeValues.inputs.countWaiting() > 0);
      giveBack();
      await judging;
      const { rows } = await sql<{ status: string }>`select status from test_result`.execute(db);
      assert.deepEqual(rows, [{ status: 'failed' }]);
    } finally {
      await largeValues.close();
      await database.drop();
    }
  });

  it('compares a large answer in a turn of its organization at large work', async () => {
    const database = await createTestDatabase();
    const largeValues = createLargeValues();
    try {
      const { db } = database;
      const executionId = await insertTested(db);
      await db
        .updateTable('run')
        .set({ input: JSON.stringify({ message: 'x'.repeat(LARGE_BYTES) }) })
        .where('execution_id', '=', executionId)
        .execute();
      await finishRun(db, executionId, { status: 'completed', result: { ref: MESSAGE_REF } });
      const { organizationId } = await getTest(db, executionId);
      const asked = Promise.withResolvers<[owner: string, isLarge: boolean]>();
      const turn = Promise.withResolvers<() => void>();
      largeValues.work.take = (owner, bytes) => {
        asked.resolve([owner, bytes >= LARGE_BYTES]);
        return turn.promise;
      };
      const validator = { of: () => undefined } as never;
      const activities = createActivities({ ...deps, db, largeValues, validator });
      const judging = inActivity(context('evaluateTest'), () => activities.evaluateTest(executionId));
      assert.deepEqual(await asked.promise, [organizationId, true]);
      const ended = Promise.withResolvers<void>();
      turn.resolve(ended.resolve);
      await ended.promise;
      await judging;
      const { rows } = await sql<{ why: string }>`select why from test_result`.execute(db);
      assert.match(rows[0]?.why ?? '', /^The answer is "x{299}…; expected 1\.$/);
    } finally {
      await largeValues.close();
      await database.drop();
    }
  });
});
