import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { sql } from 'kysely';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import { createSlots } from '../../activities/in-slot.ts';
import { createActivities } from '../../activities/index.ts';
import { RUN_TESTS } from '../../flow/test-case.ts';
import { captureLog } from '../capture-log.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase } from '../db/test-database.ts';
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

  it('is tried again while the run has not ended, which is not logged', async () => {
    const database = await createTestDatabase();
    const captured = captureLog();
    try {
      const { db } = database;
      const { runs } = await openAccount(db, 0, 1);
      const executionId = runs[0] as string;
      const testRunId = randomUUID();
      await sql`
        insert into test_run (id, flow_id, flow_version_id)
        select ${testRunId}, flow_id, flow_version_id from run`.execute(db);
      await sql`
        insert into test_result (test_run_id, test_case_id, position, name, execution_id, input, expectation)
        values (${testRunId}, ${randomUUID()}, 0, 'case', ${executionId}, '{}', '{"type":"equals","value":1}')`.execute(
        db,
      );
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
});
