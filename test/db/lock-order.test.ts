// Each test holds the first lock of one transaction, so that another meets it there, not by chance. What is tested runs in a
// transaction of its own too, because a statement outside of one is repeated after a deadlock.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { releaseLeftReservations, reserveCredits } from '../../db/credits/reservations.ts';
import { requestCancel } from '../../db/runs/run-cancellation.ts';
import { findOutcome, finishRun } from '../../db/runs/runs.ts';
import { requestTestRunCancel } from '../../db/test-runs/test-run-cancellation.ts';
import { deleteOld } from '../../db/upkeep/delete-old.ts';
import { cancelDeliveries } from '../../db/webhooks/deliveries.ts';
import { CANCELLED } from '../../flow/run.ts';
import {
  type Account,
  audit,
  beginSession,
  lockBalance,
  openAccount,
  settle,
} from './credits/ledger-fixture.ts';
import { duringTransaction } from './during-transaction.ts';
import { lockWaiters } from './lock-waiters.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

describe('the order of locks (docs/decisions/0018-lock-order.md)', () => {
  let database: TestDatabase;
  let db: Db;
  let account: Account;
  before(async () => {
    database = await createTestDatabase();
    ({ db } = database);
  });
  beforeEach(async () => {
    account = await openAccount(db, 1_000, 1);
  });
  after(() => database.drop());

  const id = () => ({ callId: account.runs[0] as string, blockKey: 'ask' });
  const reservation = (microcredits: number) => ({
    ...id(),
    organizationId: account.organizationId,
    microcredits,
  });

  it('is organization, then reservation, when a block is charged: a request that reserves meanwhile ends', async () => {
    await reserveCredits(db, reservation(300));
    const settled = await db.transaction().execute(async (tx) => {
      await lockBalance(tx, account);
      const settling = db
        .transaction()
        .execute((other) => settle(other, account, { ...id(), costMicrocredits: 200 }));
      settling.catch(() => undefined);
      await lockWaiters(db, 1);
      await reserveCredits(tx, reservation(400));
      return { settling };
    });
    assert.equal(await settled.settling, true);
    const { balance, reserved } = await audit(db, account);
    assert.deepEqual([balance, reserved], [800, 0]);
  });

  it('is run, then its later call, when the call ends while the run is cancelled', async () => {
    const { executionId, callId } = await beginSession(db, id().callId);
    const { finishing } = await db.transaction().execute(async (tx) => {
      await sql`select from run where execution_id = ${executionId} for no key update`.execute(tx);
      const finishing = db
        .transaction()
        .execute((other) => finishRun(other, callId, { status: 'completed', result: { ref: '$message' } }));
      finishing.catch(() => undefined);
      await lockWaiters(db, 1);
      await requestCancel(tx, executionId);
      return { finishing };
    });
    assert.deepEqual(await finishing, { status: 'failed', error: CANCELLED });
    for (const part of [callId, executionId])
      assert.deepEqual(await findOutcome(db, part), { status: 'failed', error: CANCELLED });
  });

  it('is that of their ids among the runs of a test run that is cancelled', async () => {
    const { flow_id, flow_version_id } = await db
      .selectFrom('run')
      .select(['flow_id', 'flow_version_id'])
      .where('execution_id', '=', id().callId)
      .executeTakeFirstOrThrow();
    const { runs } = await openAccount(db, 0, 8);
    const testRunId = randomUUID();
    await db.insertInto('test_run').values({ id: testRunId, flow_id, flow_version_id }).execute();
    for (const [position, executionId] of runs.entries())
      await sql`
        insert into test_result (test_run_id, test_case_id, position, name, execution_id, input, expectation)
        values (${testRunId}, ${randomUUID()}, ${position}, 'case', ${executionId}, '{}', '{}')`.execute(db);
    const [first, ...others] = runs.toSorted();
    const { cancelling } = await db.transaction().execute(async (tx) => {
      await sql`select from run where execution_id = ${first} for no key update`.execute(tx);
      const cancelling = db.transaction().execute((other) => requestTestRunCancel(other, testRunId));
      cancelling.catch(() => undefined);
      await lockWaiters(db, 1);
      const lock = sql`select from run where execution_id = any(${others}::uuid[]) for no key update nowait`;
      assert.equal((await lock.execute(tx)).rows.length, others.length);
      return { cancelling };
    });
    assert.equal(await cancelling, true);
  });

  for (const [how, status, lockDeliveries] of [
    [
      'cancelled with their organization',
      'pending',
      () => cancelDeliveries(db, sql`organization_id = ${account.organizationId}`),
    ],
    ['deleted with their runs', 'succeeded', () => deleteOld(db, 0, 100)],
  ] as const)
    it(`is that of their ids among deliveries that are ${how}`, async () => {
      account = await openAccount(db, 0, 8);
      const [first, ...others] = account.runs.map(() => randomUUID()).toSorted();
      for (const [index, deliveryId] of [...others.toReversed(), first].entries()) {
        const executionId = account.runs[index] as string;
        await finishRun(db, executionId, { status: 'failed', error: CANCELLED });
        await sql`
          insert into webhook_delivery (id, organization_id, execution_id, event_type, target_url, status)
          values (${deliveryId}, ${account.organizationId}, ${executionId}, 'flow.failed', 'https://h.test', ${status})`.execute(
          db,
        );
      }
      const { locking } = await db.transaction().execute(async (tx) => {
        await sql`select from webhook_delivery where id = ${first} for no key update`.execute(tx);
        const locking = lockDeliveries();
        locking.catch(() => undefined);
        await lockWaiters(db, 1);
        const lock = sql`select from webhook_delivery where id = any(${others}::uuid[]) for no key update nowait`;
        assert.equal((await lock.execute(tx)).rows.length, others.length);
        return { locking };
      });
      await locking;
      const left = db.selectFrom('webhook_delivery').select('id').where('status', '=', status);
      assert.deepEqual(await left.execute(), []);
    });

  it('does not matter to upkeep, which leaves locked reservations to the next time', async () => {
    await reserveCredits(db, reservation(300));
    await finishRun(db, id().callId, { status: 'failed', error: CANCELLED });
    await duringTransaction(
      db,
      (tx) => sql`select from reservation where execution_id = ${id().callId} for update`.execute(tx),
      () => releaseLeftReservations(db),
    );
    assert.equal((await audit(db, account)).reserved, 300);
    await releaseLeftReservations(db);
    assert.equal((await audit(db, account)).reserved, 0);
  });
});
