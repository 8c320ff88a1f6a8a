import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { sql } from 'kysely';
import type { ApiDeps } from '../../../../api/deps.ts';
import type { ApiContext } from '../../../../api/http/context.ts';
import { acceptCall } from '../../../../api/runs/calls/accept-idempotently.ts';
import { storeCall } from '../../../../api/runs/calls/store-call.ts';
import { connect } from '../../../../db/connect.ts';
import { ServiceError } from '../../../../flow/errors.ts';
import { createTestDatabase, type TestDatabase } from '../../../db/test-database.ts';

describe('an error while a run is accepted', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const ids = { organizationId: randomUUID(), projectId: randomUUID(), flowId: randomUUID() };
  const version = { flowVersionId: randomUUID(), version: 1, definition: { steps: [] } };
  const input = { message: 'm', parameters: {}, block_overrides: {} };
  const request = () =>
    ({
      ...{ params: {}, res: new EventEmitter() },
      state: { principal: { environment: 'live' }, flow: ids },
    }) as unknown as ApiContext;

  it('names the run from when it may have been stored', async () => {
    const db = connect(database.url, 2, 200);
    const ctx = request();
    const callId = randomUUID();
    try {
      await database.db.transaction().execute(async (tx) => {
        await sql`lock table run in access exclusive mode`.execute(tx);
        const deps = { db, config: { runsUnderWayMax: 0 } } as ApiDeps;
        const accepted = acceptCall(deps, ctx, (asked) =>
          storeCall(deps, asked, { callId, mode: 'jobs', input, ...version }),
        );
        await assert.rejects(accepted, { name: 'ConnectionFailed', failure: 'slow' });
      });
      assert.deepEqual(ctx.state.accepted, { executionId: callId });
    } finally {
      await db.destroy();
    }
  });

  it('names no run that was refused', async () => {
    const ctx = request();
    const refused = new ServiceError('INSUFFICIENT_CREDITS', 'The organization has no credits left.');
    await assert.rejects(
      acceptCall({} as ApiDeps, ctx, () => Promise.reject(refused)),
      refused,
    );
    assert.equal(ctx.state.accepted, undefined);
  });
});
