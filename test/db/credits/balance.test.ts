import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { reserveCredits } from '../../../db/credits/reservations.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { type Account, audit, openAccount, settle } from './ledger-fixture.ts';

const block = ({ runs }: Account) => ({ callId: runs[0] as string, blockKey: randomUUID() });

describe('a balance', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is reserved from and charged in one statement each', async () => {
    const { db } = database;
    const account = await openAccount(db, 100, 1);
    const id = block(account);
    const { query } = pg.Client.prototype;
    const statements: string[] = [];
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      // Files before this one may still end what they began.
      if (database.url.endsWith(`/${this.database}`)) statements.push(String(args[0]));
      return Reflect.apply(query, this, args);
    } as typeof query;
    try {
      await reserveCredits(db, { ...id, ...account, microcredits: 10 });
      await settle(db, { ...account, maxMicrocredits: 50 }, { ...id, costMicrocredits: 10 });
    } finally {
      pg.Client.prototype.query = query;
    }
    assert.deepEqual(
      statements.map((statement) => /\b(reserve_credits|record_block_run)\b/.exec(statement)?.[1]),
      ['reserve_credits', 'record_block_run'],
    );
    assert.equal((await audit(db, account)).balance, 90);
  });
});
