import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Db } from '../../../db/connect.ts';
import {
  BlockRecorded,
  beginModelCall,
  type Reservation,
  releaseLeftReservations,
  releaseReservation,
  reserveCredits,
} from '../../../db/credits/reservations.ts';
import { loadBlockOutput } from '../../../db/runs/block-runs.ts';
import { requestCancel } from '../../../db/runs/run-cancellation.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { CANCELLED } from '../../../flow/run.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { type Account, audit, openAccount, settle } from './ledger-fixture.ts';

describe('reserveCredits', () => {
  let database: TestDatabase;
  let account: Account;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    account = await openAccount(database.db, 100, 2);
  });
  after(() => database.drop());

  const reserve = (blockKey: string, microcredits: number, more: Partial<Reservation> = {}, run = 0) =>
    reserveCredits(database.db, {
      organizationId: account.organizationId,
      callId: account.runs[run] as string,
      blockKey,
      microcredits,
      ...more,
    });
  const reserved = async () => (await audit(database.db, account)).reserved;

  it('lets 20 parallel calls reserve no more than the balance, over all runs', async () => {
    const calls = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => reserve(`block-${index}`, 20, {}, index % 2)),
    );
    assert.equal(calls.filter(({ status }) => status === 'fulfilled').length, 5);
    for (const call of calls)
      if (call.status === 'rejected') assert.equal(call.reason.code, 'INSUFFICIENT_CREDITS');
    assert.equal(await reserved(), 100);
  });

  it('replaces what the same block had reserved', async () => {
    await reserve('ask', 100);
    await reserve('ask', 60);
    assert.equal(await reserved(), 60);
    await assert.rejects(reserve('ask', 101), { code: 'INSUFFICIENT_CREDITS' });
    assert.equal(await reserved(), 60);
  });

  it('returns what releases this reservation, and not one that another attempt has made in its place', async () => {
    const id = { callId: account.runs[0] as string, blockKey: 'ask' };
    const first = await reserve('ask', 100);
    const second = await reserve('ask', 60);
    await releaseReservation(database.db, id, first);
    assert.equal(await reserved(), 60);
    await releaseReservation(database.db, id, second);
    assert.equal(await reserved(), 0);
  });

  it('names the credits that are left and those that were needed', async () => {
    await reserve('a', 70);
    await assert.rejects(reserve('b', 40), {
      code: 'INSUFFICIENT_CREDITS',
      message: /has 0\.00003 credits .* may cost 0\.00004/,
    });
  });

  it('counts what a run has spent and reserved, and nothing else, towards its maximum', async () => {
    const maxMicrocredits = 50;
    await reserve('other run', 10, {}, 1);
    await reserve('a', 20, { maxMicrocredits });
    await settle(database.db, account, {
      callId: account.runs[0] as string,
      blockKey: 'a',
      costMicrocredits: 15,
    });
    await reserve('b', 25, { maxMicrocredits });
    await assert.rejects(reserve('c', 11, { maxMicrocredits }), {
      code: 'MAX_CREDITS_REACHED',
      message: /is 0\.00005: 0\.000015 are spent, 0\.000025 reserved .* may cost 0\.000011/,
    });
    await reserve('c', 10, { maxMicrocredits });
    await reserve('c', 10, { maxMicrocredits });
  });

  it('allows a free model with an empty balance', async () => {
    await reserve('all', 100);
    await reserve('free', 0);
  });

  it('refuses a run that was cancelled and one that has ended', async () => {
    const [cancelled = '', ended = ''] = account.runs;
    await requestCancel(database.db, cancelled);
    await assert.rejects(reserve('ask', 1), { code: 'CANCELLED', message: CANCELLED.message });
    await finishRun(database.db, ended, { status: 'failed', error: CANCELLED });
    await assert.rejects(reserve('ask', 1, {}, 1), { code: 'CANCELLED', message: /has ended/ });
    assert.equal(await reserved(), 0);
  });

  it('answers the recorded error of a block that failed and was charged', async () => {
    const error = { code: 'MODEL_REFUSED', message: 'I will not.' } as const;
    const id = { callId: account.runs[0] as string, blockKey: 'ask' };
    await settle(database.db, account, { ...id, error, costMicrocredits: 5 });
    await assert.rejects(reserve('ask', 1), error);
    assert.equal(await reserved(), 0);
  });

  describe('the reservation of a killed worker', () => {
    it('is released when its run has ended, and not before', async () => {
      await reserve('ask', 30);
      await reserve('ask', 20, {}, 1);
      await finishRun(database.db, account.runs[0] as string, { status: 'failed', error: CANCELLED });
      await releaseLeftReservations(database.db);
      assert.equal(await reserved(), 20);
    });

    it('is released when its run waits for its caller, which may take weeks', async () => {
      await reserve('ask', 30);
      const pause = { step_id: 'ask', iterations: 1, tool_call_ids: ['t'] };
      await finishRun(database.db, account.runs[0] as string, { status: 'tool_calls_required', pause });
      await releaseLeftReservations(database.db);
      assert.equal(await reserved(), 0);
    });

    it('is kept while its run goes on, however long its model takes to answer', async () => {
      await reserve('ask', 60);
      await database.db
        .updateTable('reservation')
        .set({ reserved_at: sql`now() - interval '1 day'` })
        .where('organization_id', '=', account.organizationId)
        .execute();
      await releaseLeftReservations(database.db);
      await assert.rejects(reserve('other', 60, {}, 1), { code: 'INSUFFICIENT_CREDITS' });
      await assert.rejects(reserve('branch', 30, { maxMicrocredits: 80 }), { code: 'MAX_CREDITS_REACHED' });
      const block = { callId: account.runs[0] as string, blockKey: 'ask', costMicrocredits: 60 };
      assert.equal(await settle(database.db, account, block), true);
      const { balance, reserved: left } = await audit(database.db, account);
      assert.deepEqual([balance, left], [40, 0]);
    });

    it('is not charged when the answer comes after the end', async () => {
      await reserve('ask', 30);
      const [callId = ''] = account.runs;
      await finishRun(database.db, callId, { status: 'failed', error: CANCELLED });
      const block = { callId, blockKey: 'ask', costMicrocredits: 30 };
      assert.equal(await settle(database.db, account, block), false);
      const { balance, reserved: left } = await audit(database.db, account);
      assert.deepEqual([balance, left], [100, 0]);
    });
  });
});

describe('beginModelCall', () => {
  let database: TestDatabase;
  let account: Account;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    account = await openAccount(database.db, 100, 1);
  });
  after(() => database.drop());

  const id = () => ({ callId: account.runs[0] as string, blockKey: 'ask' });
  const begin = (microcredits: number, provider = 'demo', db: Db = database.db) =>
    beginModelCall(db, {
      ...id(),
      organizationId: account.organizationId,
      provider,
      microcredits,
    });
  const reserved = async () => (await audit(database.db, account)).reserved;

  it('reserves credits where nobody brought a key for the provider, and refuses what cannot be paid', async () => {
    const { sent, secret, again, reservedAt } = await begin(60);
    assert.deepEqual([sent, secret, again, await reserved()], [false, null, false, 60]);
    await releaseReservation(database.db, id(), reservedAt);
    assert.deepEqual([(await begin(60)).again, (await begin(60)).again], [false, true]);
    await assert.rejects(begin(101), { code: 'INSUFFICIENT_CREDITS' });
  });

  it('does not wait for the disk, nor does it spare what comes after it the wait', async () => {
    const waits = (tx: Db) => sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(tx);
    await database.db.connection().execute(async (db) => {
      await sql`set synchronous_commit = on`.execute(db);
      await db.transaction().execute(async (tx) => {
        await begin(60, 'demo', tx);
        assert.deepEqual((await waits(tx)).rows, [{ synchronous_commit: 'off' }]);
      });
      assert.deepEqual((await waits(db)).rows, [{ synchronous_commit: 'on' }]);
    });
  });

  const addKey = () =>
    database.db
      .insertInto('model_key')
      .values({
        organization_id: account.organizationId,
        provider: 'demo',
        secret: 'sealed',
        preview: '',
        created_by: 'ada',
      })
      .execute();

  it('reserves nothing where the call or its organization brought a key, and says which', async () => {
    await addKey();
    const stored = await begin(1_000);
    assert.deepEqual([stored.sent, stored.secret], [false, 'sealed']);
    await database.db
      .updateTable('run')
      .set({ model_key_providers: ['demo'] })
      .where('execution_id', '=', id().callId)
      .execute();
    const brought = await begin(1_000);
    assert.deepEqual([brought.sent, brought.secret], [true, null]);
    assert.equal(await reserved(), 0);
    await begin(10, 'other');
    assert.equal(await reserved(), 10);
  });

  it('answers the recorded error of a block that failed after an answer which the owner of the key paid for', async () => {
    await addKey();
    const error = { code: 'MODEL_REFUSED', message: 'I will not.' } as const;
    const failed = { ...id(), costMicrocredits: 0, error };
    assert.equal(await settle(database.db, account, failed), true);
    await begin(0);
    assert.equal(await settle(database.db, account, { ...failed, promptTokens: 10 }), true);
    await assert.rejects(begin(0), error);
    const completed = { ...id(), costMicrocredits: 0 };
    assert.equal(await settle(database.db, account, completed), false);
    const { callId, blockKey } = completed;
    await assert.rejects(loadBlockOutput(database.db, callId, blockKey), error);
  });

  it('refuses a block that another attempt has recorded, and a run that was cancelled', async () => {
    await begin(10);
    await settle(database.db, account, { ...id(), costMicrocredits: 5 });
    await assert.rejects(begin(10), BlockRecorded);
    await requestCancel(database.db, id().callId);
    await assert.rejects(begin(10), { code: 'CANCELLED' });
    assert.equal(await reserved(), 0);
  });
});
