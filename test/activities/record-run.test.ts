import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import { createActivities } from '../../activities/index.ts';
import { requestCancel } from '../../db/runs/run-cancellation.ts';
import { CANCELLED, RUN_FLOW, type RunOutcome } from '../../flow/run.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { inActivity } from './in-activity.ts';

describe('the activity that records the end of a run', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('tells of a cancellation that an attempt has recorded whose answer was lost', async () => {
    const { db } = database;
    const deps = { db, inProcessRuns: createInProcessRuns() } as ActivityDeps;
    const { recordRun } = createActivities(deps);
    const context = {
      info: {
        attempt: 1,
        isLocal: true,
        workflowType: RUN_FLOW,
        workflowExecution: { workflowId: randomUUID() },
        activityType: 'recordRun',
      },
      cancellationSignal: new AbortController().signal,
    };
    const { runs } = await openAccount(db, 0, 1);
    const [callId = ''] = runs;
    await requestCancel(db, callId);
    const completed: RunOutcome = { status: 'completed', result: { ref: '$message' } };
    const cancelled: RunOutcome = { status: 'failed', error: CANCELLED };
    const record = () => inActivity(context, () => recordRun(callId, completed));
    assert.deepEqual(await record(), cancelled);
    assert.deepEqual(await record(), cancelled);
  });
});
