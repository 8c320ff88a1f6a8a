import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Db } from '../../../db/connect.ts';
import { BlockRecorded, beginModelCall, releaseReservation } from '../../../db/credits/reservations.ts';
import { loadBlockOutput } from '../../../db/runs/block-runs.ts';
import { requestCancel } from '../../../db/runs/run-cancellation.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { type Account, audit, openAccount, settle } from './ledger-fixture.ts';

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
      .set({ model_key_providers: ['demo'], model_keys: JSON.stringify({ demo: 'sealed of the call' }) })
      .where('execution_id', '=', id().callId)
      .execute();
    const brought = await begin(1_000);
    assert.deepEqual([brought.sent, brought.secret], [true, 'sealed of the call']);
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
