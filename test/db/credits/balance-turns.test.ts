import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { connect } from '../../../db/connect.ts';
import { BALANCE_STATEMENTS_MAX } from '../../../db/credits/balance-turns.ts';
import { reserveCredits } from '../../../db/credits/reservations.ts';
import { countLockWaiters, lockWaiters } from '../lock-waiters.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { type Account, audit, lockBalance, openAccount, settle } from './ledger-fixture.ts';

const block = ({ runs }: Account) => ({ executionId: runs[0] as string, blockKey: randomUUID() });

describe('a balance', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is reserved of and charged in one statement each', async () => {
    const { db } = database;
    const account = await openAccount(db, 100, 1);
    const id = block(account);
    const { query } = pg.Client.prototype;
    const statements: string[] = [];
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      statements.push(String(args[0]));
      return Reflect.apply(query, this, args);
    } as typeof query;
    try {
      await reserveCredits(db, { ...id, ...account, microcredits: 10 });
      await settle(db, { ...account, maxMicrocredits: 50 }, { ...id, costMicrocredits: 10 });
    } finally {
      pg.Client.prototype.query = query;
    }
    assert.deepEqual(
      statements.map((statement) => /select \* from (\w+)/.exec(statement)?.[1]),
      ['reserve_credits', 'record_block_run'],
    );
    assert.equal((await audit(db, account)).balance, 90);
  });

  it('that many calls wait for leaves the connections to other organizations, and serves all in the end', async () => {
    const { db } = database;
    const small = connect(database.url, BALANCE_STATEMENTS_MAX + 1);
    const crowded = await openAccount(db, 1_000, 1);
    const other = await openAccount(db, 100, 1);
    try {
      const calls = await db.transaction().execute(async (tx) => {
        await lockBalance(tx, crowded);
        const calls = Array.from({ length: 20 }, async () => {
          const id = block(crowded);
          await reserveCredits(small, { ...id, ...crowded, microcredits: 10 });
          return settle(small, crowded, { ...id, costMicrocredits: 10 });
        });
        await lockWaiters(db, BALANCE_STATEMENTS_MAX);
        const id = block(other);
        await reserveCredits(small, { ...id, ...other, microcredits: 10 });
        await settle(small, other, { ...id, costMicrocredits: 10 });
        assert.equal(await countLockWaiters(db), BALANCE_STATEMENTS_MAX);
        return calls;
      });
      assert.deepEqual(await Promise.all(calls), Array(20).fill(true));
      assert.equal((await audit(db, crowded)).balance, 800);
      assert.equal((await audit(db, other)).balance, 90);
    } finally {
      await small.destroy();
    }
  });

  it('that a call could not be served of is free for the next', async () => {
    const { db } = database;
    const account = await openAccount(db, 100, 1);
    await Promise.all(
      Array.from({ length: 5 }, () =>
        assert.rejects(reserveCredits(db, { ...block(account), ...account, microcredits: 101 }), {
          code: 'INSUFFICIENT_CREDITS',
        }),
      ),
    );
    await reserveCredits(db, { ...block(account), ...account, microcredits: 100 });
  });
});
