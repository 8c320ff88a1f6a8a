import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { FileMigrationProvider, type Migration } from 'kysely/migration';
import { connect, type Db, type Tx } from '../../db/connect.ts';
import { dumpSchema } from '../../db/dump-schema.ts';
import { listAppliedMigrations } from '../../db/list-migrations.ts';
import { migrate } from '../../db/migrate.ts';
import { waitUntil } from '../wait-until.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { withShortTimeouts } from './with-short-timeouts.ts';

const FILES = new FileMigrationProvider({
  fs,
  path,
  migrationFolder: path.join(import.meta.dirname, '../../db/migrations'),
});
/** The migration of a later release. */
const LATER = '9000-later';
const LOCKS: Migration = {
  up: (db) => sql`alter table organization add column colour text`.execute(db).then(() => undefined),
};
const TAKES_LONG: Migration = { up: (db) => sql`select pg_sleep(1.5)`.execute(db).then(() => undefined) };

/** Provides the migrations of this release and one of a later release. */
function and(later: Migration) {
  return { getMigrations: async () => ({ ...(await FILES.getMigrations()), [LATER]: later }) };
}

describe('a migration beside a service that is in use', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await sql`delete from kysely_migration where name = ${LATER}`.execute(database.db);
    await sql`alter table organization drop column if exists colour`.execute(database.db);
  });
  after(() => database.drop());

  it('waits for moments, lets others pass, and is applied once the lock is free', async () => {
    const { db } = database;
    const provider = and(LOCKS);
    const { migrating } = await whileTableIsHeld(db, async () => {
      const migrating = migrate(db, { provider });
      migrating.catch(() => undefined);
      await waitUntil(async () => (await countWaiting(db)) === 1);
      // This one is behind the migration, which gives way although the table is held as before.
      await readTable(db);
      return { migrating };
    });
    assert.deepEqual(await migrating, [LATER]);
    assert.deepEqual(await migrate(db, { provider }), []);
  });

  it('gives up after its time, says who holds the lock, and can be repeated', async () => {
    const { db } = database;
    const provider = and(LOCKS);
    await whileTableIsHeld(db, async () => {
      await assert.rejects(migrate(db, { provider, patienceMs: 0 }), (error: Error) => {
        assert.match(error.message, /^Migration 9000-later waits for a lock of process \d+ of Post/);
        assert.match(error.message, /idle in transaction, last statement UPDATE, transaction of \d+ s\)\./);
        assert.doesNotMatch(error.message, /set name/);
        return true;
      });
    });
    assert.deepEqual(await migrate(db, { provider }), [LATER]);
  });

  it('takes as long as it takes, however short the timeouts of the role are', async () => {
    const hurried = connect(await withShortTimeouts(database));
    try {
      assert.deepEqual(await migrate(hurried, { provider: and(TAKES_LONG) }), [LATER]);
      const { rows } = await sql`show statement_timeout`.execute(hurried);
      assert.deepEqual(rows, [{ statement_timeout: '1s' }]);
    } finally {
      await hurried.destroy();
    }
  });

  it('is applied once where several processes begin at the same time', async () => {
    const { db } = database;
    const provider = and(LOCKS);
    const applied = await Promise.all([1, 2, 3].map(() => migrate(db, { provider })));
    assert.deepEqual(applied.flat(), [LATER]);
  });

  it('stays applied where an older release migrates', async () => {
    const { db } = database;
    await migrate(db, { provider: and(LOCKS) });
    const schema = await dumpSchema(db);
    assert.deepEqual(await migrate(db), []);
    assert.equal(await dumpSchema(db), schema);
    assert.ok((await listApplied(db)).includes(LATER));
  });
});

async function listApplied(db: Db): Promise<string[]> {
  return listAppliedMigrations({ query: (text) => sql.raw<{ name: string }>(text).execute(db) });
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
