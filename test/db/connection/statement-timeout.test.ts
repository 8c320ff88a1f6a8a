import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { connect } from '../../../db/connect.ts';
import { logOutage } from '../../../db/connection/database-errors.ts';
import { captureLog } from '../../capture-log.ts';
import { waitUntil } from '../../wait-until.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const PATIENCE_MS = 300;

describe('a statement that takes too long', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const slow = sql`select pg_sleep(300)`;
  const countSlow = async () =>
    (
      await sql`select from pg_stat_activity
        where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`.execute(
        database.db,
      )
    ).rows.length;

  it('is cancelled in PostgreSQL, so that nothing was done', async () => {
    const db = connect(database.url, 2, PATIENCE_MS);
    const failed = { name: 'ConnectionFailed', failure: 'slow', mayBeCarriedOut: false };
    try {
      await Promise.all([
        assert.rejects(slow.execute(db), failed),
        assert.rejects(
          db.transaction().execute((tx) => slow.execute(tx)),
          failed,
        ),
      ]);
      await waitUntil(async () => (await countSlow()) === 0);
      await sql`select 1`.execute(db);
    } finally {
      await db.destroy();
    }
  });

  it('is a line of its own in the log, and no outage', async () => {
    const captured = captureLog();
    const db = connect(database.url, 1, PATIENCE_MS);
    try {
      const error = await slow.execute(db).catch((reason: unknown) => reason);
      assert.equal(logOutage(error), true);
      assert.deepEqual(
        captured.lines.map(({ msg, statement }) => [msg, statement]),
        [['A statement took too long, and is cancelled.', 'select pg_sleep(300)']],
      );
    } finally {
      captured.stop();
      await db.destroy();
    }
  });
});
