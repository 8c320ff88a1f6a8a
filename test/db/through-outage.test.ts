import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { sql } from 'kysely';
import { connect, hasTimedOut } from '../../db/connect.ts';
import { throughOutage } from '../../db/through-outage.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

describe('throughOutage', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('does the work again when its connection is cut in the middle, also after the commit', async () => {
    const { db } = database;
    const slug = `o-${randomUUID().slice(0, 8)}`;
    let attempts = 0;
    await throughOutage(async () => {
      attempts += 1;
      await db
        .insertInto('organization')
        .values({ slug, name: slug })
        .onConflict((conflict) => conflict.column('slug').where('deleted_at', 'is', null).doNothing())
        .execute();
      if (attempts === 1) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
    });
    const rows = await db.selectFrom('organization').select('id').where('slug', '=', slug).execute();
    assert.deepEqual([attempts, rows.length], [2, 1]);
  });

  it('leaves the process running when a connection is cut between two queries of a transaction', async () => {
    const { db } = database;
    const broken = db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(db);
      await sql`select 1`.execute(tx);
    });
    await assert.rejects(broken);
    await sql`select 1`.execute(db);
  });

  it('throws what is no outage at once', async () => {
    let attempts = 0;
    const work = () => {
      attempts += 1;
      return sql`select 1 / 0`.execute(database.db);
    };
    await assert.rejects(throughOutage(work), /division by zero/);
    assert.equal(attempts, 1);
  });

  it('throws DATABASE_UNAVAILABLE when the database takes a query and is silent, without asking again', async () => {
    const silent = connect(database.url, 2, 200);
    let attempts = 0;
    try {
      await assert.rejects(
        throughOutage(() => {
          attempts += 1;
          return sql`select pg_sleep(30)`.execute(silent);
        }),
        { code: 'DATABASE_UNAVAILABLE' },
      );
      assert.equal(attempts, 1);
    } finally {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep%' and datname = current_database()`.execute(
        database.db,
      );
      await silent.destroy();
    }
  });

  it('does not give a connection that is silent to the next query', async () => {
    const silent = connect(database.url, 1, 200);
    /** Resolves once so many queries that sleep have arrived, and the time that each has is over. */
    const timeOut = async (queries: number) => {
      const sleeping = sql`select pid from pg_stat_activity
        where query = 'select pg_sleep(31)' and datname = current_database()`;
      while ((await sleeping.execute(database.db)).rows.length < queries);
      mock.timers.tick(200);
    };
    // No other time passes, so that nothing else times out.
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const query = assert.rejects(sql`select pg_sleep(31)`.execute(silent), hasTimedOut);
      await timeOut(1);
      await query;
      const transaction = assert.rejects(
        silent.transaction().execute((tx) => sql`select pg_sleep(31)`.execute(tx)),
        hasTimedOut,
      );
      await timeOut(2);
      await transaction;
      const { rows } = await sql`select 1 as one`.execute(silent);
      assert.deepEqual(rows, [{ one: 1 }]);
    } finally {
      mock.timers.reset();
      await silent.destroy();
    }
  });

  it('throws DATABASE_UNAVAILABLE when the database stays away', async () => {
    const away = connect('postgres://127.0.0.1:1/none');
    try {
      await assert.rejects(
        throughOutage(() => sql`select 1`.execute(away)),
        { code: 'DATABASE_UNAVAILABLE' },
      );
    } finally {
      await away.destroy();
    }
  });
});
