import assert from 'node:assert/strict';
import { sql } from 'kysely';
import {
  CreditsReserved,
  type Reservation,
  releaseLeftReservations,
  releaseReservation,
  reserveCredits,
} from '../../../db/credits/reservations.ts';
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
    account = await openAccount(database.db, 100, 20);
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
      Array.from({ length: 20 }, (_, index) => reserve(`block-${index}`, 20, {}, index)),
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
    await assert.rejects(reserve('b', 40, {}, 1), {
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
    await assert.rejects(reserve('c', 11, { maxMicrocredits }), CreditsReserved);
    await reserve('c', 10, { maxMicrocredits });
    await reserve('c', 10, { maxMicrocredits });
    for (const blockKey of ['b', 'c'])
      await settle(database.db, account, {
        callId: account.runs[0] as string,
        blockKey,
        costMicrocredits: 10,
      });
    await assert.rejects(reserve('d', 16, { maxMicrocredits }), {
      code: 'MAX_CREDITS_REACHED',
      message: /is 0\.00005: 0\.000035 are spent, and this block may cost 0\.000016/,
    });
  });

  describe('where other blocks of the run have reserved what is missing', () => {
    for (const [limit, more] of [
      ['the balance', {}],
      ['the maximum of the run', { maxMicrocredits: 100 }],
    ] as const)
      it(`has the block wait until they end, and refuses it only then: ${limit}`, async () => {
        const callId = account.runs[0] as string;
        await reserve('a', 60, more);
        await assert.rejects(reserve('b', 50, more), CreditsReserved);
        await settle(database.db, account, { callId, blockKey: 'a', costMicrocredits: 50 });
        await reserve('b', 50, more);
        await assert.rejects(reserve('c', 1, more), CreditsReserved);
        await settle(database.db, account, { callId, blockKey: 'b', costMicrocredits: 50 });
        await assert.rejects(reserve('c', 1, more), (error) => !(error instanceof CreditsReserved));
      });

    it('has it wait though they cannot leave enough: to fail now would abort them', async () => {
      await reserve('a', 60);
      await assert.rejects(reserve('b', 500), CreditsReserved);
    });

    it('releases what the block itself has reserved, so that no two blocks wait for each other', async () => {
      await reserve('a', 50);
      await reserve('b', 50);
      await assert.rejects(reserve('a', 60), CreditsReserved);
      assert.equal(await reserved(), 50);
      await reserve('b', 100);
    });

    it('waits the longer, the longer they take, and 30 s at most', async () => {
      await reserve('a', 60);
      const waits = async (age: string) => {
        await database.db
          .updateTable('reservation')
          .set({ reserved_at: sql`now() - ${age}::interval` })
          .where('organization_id', '=', account.organizationId)
          .execute();
        const error = await reserve('b', 50).catch((refused: unknown) => refused);
        return (error as CreditsReserved).retryAfterMs;
      };
      assert.equal(await waits('0 s'), 1_000);
      assert((await waits('10 s')) >= 5_000);
      assert.equal(await waits('1 day'), 30_000);
    });
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
      const pause = { step_id: 'ask', iterations: 1, tool_call_ids: ['t'], model: 'demo/chat' };
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
      await assert.rejects(reserve('branch', 30, { maxMicrocredits: 80 }), CreditsReserved);
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
      await assert.rejects(settle(database.db, account, block), { code: 'CANCELLED' });
      const { balance, reserved: left } = await audit(database.db, account);
      assert.deepEqual([balance, left], [100, 0]);
    });
  });
});
