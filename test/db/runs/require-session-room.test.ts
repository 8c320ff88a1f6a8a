import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { requireSessionRoom, SESSION_BLOCKS_MAX } from '../../../db/runs/insert-calls.ts';
import { BLOCK_RUNS_MAX } from '../../../flow/limits.ts';
import { beginSession, openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('the room of a session', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is taken by what its calls under way may execute, and by one for each call that has ended', async () => {
    const { db } = database;
    const full = SESSION_BLOCKS_MAX / BLOCK_RUNS_MAX;
    const { runs } = await openAccount(db, 0, full);
    const { executionId, callId } = await beginSession(db, runs[0] as string);
    const others = runs.slice(1);
    await db.updateTable('run').set({ continues: executionId }).where('execution_id', 'in', others).execute();
    const further = () => requireSessionRoom(db, executionId, randomUUID());
    // The call that asks for room does not count itself.
    await requireSessionRoom(db, executionId, callId);
    await assert.rejects(further(), { code: 'CONFLICT' });
    await db.updateTable('run').set({ status: 'completed' }).where('execution_id', 'in', others).execute();
    await further();
  });
});
