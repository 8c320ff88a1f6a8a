import assert from 'node:assert/strict';
import { createNotifications } from '../../../db/notifications.ts';
import { listMarkedUnderWay, requestCancel, STOPPED_CHANNEL } from '../../../db/runs/run-cancellation.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { waitUntil } from '../../wait-until.ts';
import { beginSession, openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { watchStatements } from '../watch-statements.ts';

describe('a cancellation', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('that fails half-way is not done at all, so that the next one ends the call under way too', async () => {
    const { db } = database;
    const account = await openAccount(db, 1_000, 1);
    const { executionId, callId } = await beginSession(db, account.runs[0] as string);
    const broken = watchStatements(db, ({ kind }) => {
      if (kind === 'UpdateQueryNode') throw new Error('away');
    });
    await assert.rejects(requestCancel(broken, executionId), /away/);
    assert.deepEqual(await listMarkedUnderWay(db, 1, callId), []);
    const { status } = await db
      .selectFrom('run')
      .select('status')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.equal(status, 'in_progress');
    await requestCancel(db, executionId);
    assert.equal((await listMarkedUnderWay(db, 1, callId)).length, 1);
  });

  it('notifies workers of each call in flight, once; so does a failed call, and no completed one', async () => {
    const { db, url } = database;
    const { runs } = await openAccount(db, 1_000, 3);
    const [completed = '', cancelled = '', failed = ''] = runs;
    const { executionId, callId } = await beginSession(db, cancelled);
    const notifications = createNotifications(url);
    const stopped: string[] = [];
    try {
      await new Promise<void>((opened) => {
        notifications.listen(STOPPED_CHANNEL, (id) => void stopped.push(id), opened);
      });
      await finishRun(db, completed, { status: 'completed', result: { ref: 'ask' } });
      for (const id of [cancelled, cancelled, executionId]) await requestCancel(db, id);
      const error = { code: 'INTERNAL_ERROR', message: 'failed', reason: 'error' } as const;
      await finishRun(db, failed, { status: 'failed', error });
      await waitUntil(() => stopped.includes(failed));
      assert.deepEqual(stopped, [cancelled, callId, failed]);
    } finally {
      await notifications.close();
    }
  });
});
