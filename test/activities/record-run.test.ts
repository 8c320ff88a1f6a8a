import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import { createCancellations } from '../../activities/cancellations.ts';
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

  const { signal } = new AbortController();
  const context = {
    info: {
      attempt: 1,
      isLocal: true,
      workflowType: RUN_FLOW,
      workflowExecution: { workflowId: randomUUID() },
      activityType: 'recordRun',
    },
    cancellationSignal: signal,
  };
  function open() {
    const inProcessRuns = createInProcessRuns();
    const cancellations = createCancellations(inProcessRuns.contexts);
    const deps = { db: database.db, inProcessRuns, cancellations } as ActivityDeps;
    const { recordRun } = createActivities(deps);
    const record = (callId: string, outcome: RunOutcome) =>
      inActivity(context, () => recordRun(callId, outcome));
    return { inProcessRuns, cancellations, record };
  }

  it('stops the blocks in flight of a failed run, and tells its callers of the end once they are recorded', async () => {
    const { runs } = await openAccount(database.db, 0, 1);
    const [callId = ''] = runs;
    const { inProcessRuns, cancellations, record } = open();
    const order: string[] = [];
    inProcessRuns.ends.once(callId, () => order.push('end'));
    const block = cancellations.run(callId, signal, async (stopped) => {
      await once(stopped, 'abort');
      await database.db.selectFrom('run').select('status').execute();
      order.push('block');
    });
    await record(callId, { status: 'failed', error: { code: 'CODE_ERROR', message: 'no', reason: 'error' } });
    await block;
    assert.deepEqual(order, ['block', 'end']);
  });

  it('tells of a cancellation that an attempt has recorded whose answer was lost', async () => {
    const { db } = database;
    const { runs } = await openAccount(db, 0, 1);
    const [callId = ''] = runs;
    await requestCancel(db, callId);
    const completed: RunOutcome = { status: 'completed', result: { ref: '$message' } };
    const cancelled: RunOutcome = { status: 'failed', error: CANCELLED };
    const { record } = open();
    assert.deepEqual(await record(callId, completed), cancelled);
    assert.deepEqual(await record(callId, completed), cancelled);
  });
});
