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
import { endLockWaiters } from '../../../db/lock-waiters.ts';
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

  /** Stores a call while its table is locked, and returns the run that the error names. */
  async function storeDuring(failure: string, during: (over: AbortSignal) => Promise<void>) {
    const db = connect(database.url, 2, 2_000);
    const ctx = request();
    const callId = randomUUID();
    const over = new AbortController();
    try {
      await database.db.transaction().execute(async (tx) => {
        await sql`lock table run in access exclusive mode`.execute(tx);
        const deps = { db, config: { runsUnderWayMax: 0 } } as ApiDeps;
        const accepted = acceptCall(deps, ctx, (asked) =>
          storeCall(deps, asked, { callId, mode: 'jobs', input, ...version }),
        ).finally(() => over.abort());
        await Promise.all([
          assert.rejects(accepted, { name: 'ConnectionFailed', failure }),
          during(over.signal),
        ]);
      });
      return { named: ctx.state.accepted, callId };
    } finally {
      await db.destroy();
    }
  }

  it('names the run from when it may have been stored', async () => {
    const { named, callId } = await storeDuring('lost', async (over) => {
      while (!over.aborted) await endLockWaiters(database.db);
    });
    assert.deepEqual(named, { executionId: callId });
  });

  it('names no run whose statement was cancelled', async () => {
    const { named } = await storeDuring('slow', async () => undefined);
    assert.equal(named, undefined);
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
