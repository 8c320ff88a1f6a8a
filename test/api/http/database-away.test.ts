import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { toServiceError } from '../../../api/http/errors.ts';
import { describeError } from '../../../cli/terminal/describe-error.ts';
import { connect, type Db } from '../../../db/connect.ts';
import { captureLog } from '../../capture-log.ts';
import { endLockWaiters, lockWaiters } from '../../db/lock-waiters.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

describe('the words about a database that is away', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const change = (db: Db) =>
    db.insertInto('organization').values({ slug: randomUUID(), name: 'Acme' }).execute();

  /** Makes a change over the database's URL with a `difference`, and returns how it fails. */
  async function fail(difference: (url: URL) => void): Promise<unknown> {
    const url = new URL(database.url);
    difference(url);
    const db = connect(url.href, 1);
    const failed = await change(db).then(
      () => assert.fail('The change was made.'),
      (error: unknown) => error,
    );
    await db.destroy();
    return failed;
  }
  const tell = (error: unknown, mayBeStored = false) =>
    toServiceError(error, { requestId: 'r', fields: {}, mayWrite: true, mayBeStored });

  it('that is read-only say so to callers, to operators and in the log, and not that a change may have been made', async () => {
    const error = await fail((url) => url.searchParams.set('options', '-c default_transaction_read_only=on'));
    const captured = captureLog();
    const { code, message } = tell(error);
    captured.stop();
    assert.equal(code, 'DATABASE_UNAVAILABLE');
    assert.equal(message, 'The database takes no changes at the moment: try again later.');
    assert.match(String(captured.lines[0]?.reason), /^The database is read-only \(a standby, or default_/);
    assert.match(describeError(error), /^The database takes no changes, .* default_transaction_read_only/);
  });

  it('do not say that a change may have been made when no connection was opened, or the name is wrong', async () => {
    for (const difference of [
      (url: URL) => Object.assign(url, { port: '1' }),
      (url: URL) => Object.assign(url, { pathname: 'nosuch' }),
    ])
      assert.equal(tell(await fail(difference)).message, 'The database does not answer: try again later.');
  });

  it('say that a change may have been made when the connection was lost under it, or an earlier one may have been', async () => {
    const { db } = database;
    const { lost } = await db.transaction().execute(async (tx) => {
      await sql`lock table organization in access exclusive mode`.execute(tx);
      const lost = fail(() => undefined);
      await lockWaiters(db, 1);
      await endLockWaiters(db);
      return { lost };
    });
    const away = await fail((url) => Object.assign(url, { port: '1' }));
    for (const message of [tell(await lost).message, tell(away, true).message])
      assert.match(message, /^The database does not answer\. The change may have been made: check/);
  });
});
