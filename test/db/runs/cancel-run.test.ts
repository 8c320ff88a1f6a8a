import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { hasStopped, requestCancel } from '../../../db/runs/cancel-run.ts';
import { insertCalls, type NewCall } from '../../../db/runs/insert-calls.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
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
    const run = await db
      .selectFrom('run')
      .select(['organization_id', 'project_id', 'flow_id', 'flow_version_id'])
      .where('execution_id', '=', account.runs[0] as string)
      .executeTakeFirstOrThrow();
    const [executionId, callId] = [randomUUID(), randomUUID()];
    const call: NewCall = {
      callId,
      organizationId: run.organization_id,
      projectId: run.project_id,
      flowId: run.flow_id,
      flowVersionId: run.flow_version_id,
      mode: 'step',
      environment: 'live',
      input: { message: '', parameters: {}, block_overrides: {} },
    };
    await insertCalls(db, [
      { ...call, callId: executionId, status: 'in_progress' },
      { ...call, continues: { executionId, from: 0, to: 1, concludes: true } },
    ]);
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
