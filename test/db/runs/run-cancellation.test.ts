import assert from 'node:assert/strict';
import { hasStopped, requestCancel } from '../../../db/runs/run-cancellation.ts';
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
    assert.equal(await hasStopped(db, callId), false);
    const { status } = await db
      .selectFrom('run')
      .select('status')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.equal(status, 'in_progress');
    await requestCancel(db, executionId);
    assert.ok(await hasStopped(db, callId));
  });
});
