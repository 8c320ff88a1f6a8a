import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { connect } from '../../../db/connect.ts';
import { repeatLostWrite } from '../../../db/connection/database-errors.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { loseNextCommit } from './lose-commit.ts';

describe('repeatLostWrite', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('repeats a write when its connection was lost, also after the commit', async () => {
    const { db } = database;
    const slug = `o-${randomUUID().slice(0, 8)}`;
    let attempts = 0;
    loseNextCommit();
    await repeatLostWrite(() =>
      db.transaction().execute((tx) => {
        attempts += 1;
        return tx
          .insertInto('organization')
          .values({ slug, name: slug })
          .onConflict((conflict) => conflict.column('slug').where('deleted_at', 'is', null).doNothing())
          .execute();
      }),
    );
    const rows = await db.selectFrom('organization').select('id').where('slug', '=', slug).execute();
    assert.deepEqual([attempts, rows.length], [2, 1]);
  });

  async function countAttempts(work: () => Promise<unknown>, error: object | RegExp): Promise<number> {
    let attempts = 0;
    const counted = () => {
      attempts += 1;
      return work();
    };
    await assert.rejects(repeatLostWrite(counted), error);
    return attempts;
  }

  it('throws a fault at once', async () => {
    assert.equal(await countAttempts(() => sql`select 1 / 0`.execute(database.db), /division by zero/), 1);
  });

  it('does not wait for the database a second time', async () => {
    const away = connect('postgres://127.0.0.1:1/none');
    const failed = { name: 'ConnectionFailed', failure: 'unreachable' };
    assert.equal(await countAttempts(() => sql`select 1`.execute(away), failed), 1);
    await away.destroy();
  });

  it('does not repeat a statement that took too long', async () => {
    const impatient = connect(database.url, 2, 200);
    const failed = { name: 'ConnectionFailed', failure: 'slow' };
    assert.equal(await countAttempts(() => sql`select pg_sleep(30)`.execute(impatient), failed), 1);
    await impatient.destroy();
  });

  it('leaves the process running when a connection is cut between two queries of a transaction', async () => {
    const { db } = database;
    const broken = db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(db);
      await sql`select 1`.execute(tx);
    });
    await assert.rejects(broken, { name: 'ConnectionFailed', failure: 'lost' });
    await sql`select 1`.execute(db);
  });
});
