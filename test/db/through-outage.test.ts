import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
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
    // On a slow machine it may take too long itself: then the one after it is the next.
    const next = async (): Promise<unknown> => {
      for (;;)
        try {
          return (await sql`select 1 as one`.execute(silent)).rows;
        } catch (error) {
          assert(hasTimedOut(error), String(error));
        }
    };
    try {
      await assert.rejects(sql`select pg_sleep(3600)`.execute(silent), hasTimedOut);
      const transaction = silent.transaction().execute((tx) => sql`select pg_sleep(3600)`.execute(tx));
      await assert.rejects(transaction, hasTimedOut);
      assert.deepEqual(await next(), [{ one: 1 }]);
    } finally {
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
