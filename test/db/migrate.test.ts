import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { connect, type Db, type Tx } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { waitUntil } from '../wait-until.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { withShortTimeouts } from './with-short-timeouts.ts';

/** Locks `organization` exclusively, and adds a column with which it can be told whether it was applied. */
const MIGRATION = '0033-quotas-of-runs';

describe('a migration beside a service that is in use', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => takeBack(database.db));
  after(() => database.drop());

  it('waits for moments, lets others pass, and is applied once the lock is free', async () => {
    const { db } = database;
    const { migrating } = await whileTableIsHeld(db, async () => {
      const migrating = migrate(db);
      migrating.catch(() => undefined);
      await waitUntil(async () => (await countWaiting(db)) === 1);
      // This one is behind the migration, which gives way although the table is held as before.
      await readTable(db);
      return { migrating };
    });
    assert.deepEqual(await migrating, [MIGRATION]);
    assert.deepEqual(await migrate(db), []);
  });

  it('gives up after its time, says who holds the lock, and can be repeated', async () => {
    const { db } = database;
    await whileTableIsHeld(db, async () => {
      await assert.rejects(migrate(db, 0), (error: Error) => {
        assert.match(error.message, /^Migration 0033-quotas-of-runs waits for a lock of process \d+ of Post/);
        assert.match(error.message, /idle in transaction, last statement UPDATE, transaction of \d+ s\)\./);
        assert.doesNotMatch(error.message, /set name/);
        return true;
      });
    });
    assert.deepEqual(await migrate(db), [MIGRATION]);
  });

  it('builds indexes for as long as it takes, however short the timeouts of the role are', async () => {
    const { db } = database;
    await sql`drop index run_newest`.execute(db);
    const hurried = connect(await withShortTimeouts(database));
    let migrating: Promise<string[]> | undefined;
    try {
      await db.transaction().execute(async (tx) => {
        await sql`update run set status = status`.execute(tx);
        migrating = migrate(hurried);
        const lasting = waitUntil(async () => {
          const { rows } = await sql`
            select from pg_stat_activity where datname = current_database()
              and query like 'create index%' and clock_timestamp() - query_start > '2s'`.execute(db);
          return rows.length === 1;
        });
        await Promise.race([migrating, lasting]);
      });
      assert.deepEqual(await migrating, [MIGRATION]);
      const { rows } = await sql`show statement_timeout`.execute(hurried);
      assert.deepEqual(rows, [{ statement_timeout: '1s' }]);
    } finally {
      await hurried.destroy();
    }
  });

  it('is applied where it was applied before under an earlier number', async () => {
    const { db } = database;
    await sql`
      update kysely_migration set name = '0045-webhook-turns-in-order'
      where name = '0046-webhook-turns-in-order'`.execute(db);
    assert.deepEqual(await migrate(db), [MIGRATION, '0046-webhook-turns-in-order']);
  });

  it('leaves what a newer release has applied as it is', async () => {
    const { db } = database;
    await sql`insert into kysely_migration (name, timestamp) values ('9999-newer', now()::text)`.execute(db);
    assert.deepEqual(await migrate(db), [MIGRATION]);
    const { rows } = await sql`select from kysely_migration where name = '9999-newer'`.execute(db);
    assert.equal(rows.length, 1);
  });
});

async function takeBack(db: Db): Promise<void> {
  await sql`delete from kysely_migration where name = ${MIGRATION}`.execute(db);
  await sql`alter table organization drop column runs_under_way_max`.execute(db);
  await sql`drop function organization_within_quota`.execute(db);
}

/** Does `work` while a transaction that is not ended has written to the table. */
function whileTableIsHeld<T>(db: Db, work: (holder: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await sql`update organization set name = name`.execute(tx);
    return work(tx);
  });
}

async function countWaiting(db: Db): Promise<number> {
  const { rows } = await sql`
    select from pg_locks where locktype = 'relation' and relation = 'organization'::regclass and not granted`.execute(
    db,
  );
  return rows.length;
}

async function readTable(db: Db): Promise<void> {
  await sql`select from organization`.execute(db);
}
