import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { connect, type Db } from '../../../db/connect.ts';
import { withReconcilerLease } from '../../../db/upkeep/reconciler-lease.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const NO_REST = { engine: 'one', restSeconds: 0 };

describe('the lease of the reconciler', () => {
  let database: TestDatabase;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  after(() => database.drop());
  beforeEach(() => sql`delete from reconciler`.execute(db));

  /** Tries to reconcile; answers whether it did so, and which other engine has the lease. */
  async function attempt(lease: { engine: string; restSeconds: number }, as: Db = db) {
    let done = false;
    const holder = await withReconcilerLease(as, lease, async () => {
      done = true;
    });
    return { done, holder };
  }
  const DONE = { done: true, holder: undefined };
  const NOT_DONE = { done: false, holder: undefined };
  const silentFor = (time: string) =>
    sql`update reconciler set renewed_at = now() - ${time}::interval`.execute(db);

  it('is of one process at a time', async () => {
    await withReconcilerLease(db, NO_REST, async () => {
      assert.deepEqual(await attempt(NO_REST), NOT_DONE);
    });
    assert.deepEqual(await attempt(NO_REST), DONE);
  });

  it('lets all processes together begin a round once in a time', async () => {
    const lease = { ...NO_REST, restSeconds: 10 };
    assert.deepEqual([await attempt(lease), await attempt(lease)], [DONE, NOT_DONE]);
    await silentFor('10 seconds');
    assert.deepEqual(await attempt(lease), DONE);
  });

  it('ends with a round that fails', async () => {
    const failing = withReconcilerLease(db, NO_REST, () => Promise.reject(new Error('failed')));
    await assert.rejects(failing, /failed/);
    assert.deepEqual(await attempt(NO_REST), DONE);
  });

  it('ends with the connection of its process', async () => {
    const other = connect(database.url, 2);
    let cutOff: Promise<unknown> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        cutOff = withReconcilerLease(other, NO_REST, async () => {
          await sql`
            select pg_terminate_backend(pid) from pg_locks join pg_database on pg_database.oid = database
            where locktype = 'advisory' and datname = current_database()`.execute(db);
          while (!(await attempt(NO_REST)).done);
          resolve();
        }).catch(reject);
      });
    } finally {
      await cutOff;
      await other.destroy();
    }
  });

  it('is not held up by a clock of the database that was set back', async () => {
    const lease = { ...NO_REST, restSeconds: 10 };
    await attempt(lease);
    await silentFor('-1 hour');
    assert.deepEqual(await attempt(lease), DONE);
  });

  it('is of the workers of one engine until they are silent for a minute', async () => {
    const [one, other] = [NO_REST, { engine: 'other', restSeconds: 0 }];
    assert.deepEqual(await attempt(one), DONE);
    assert.deepEqual(await attempt(other), { done: false, holder: 'one' });
    await silentFor('61 seconds');
    assert.deepEqual(await attempt(other), DONE);
    assert.deepEqual(await attempt(one), { done: false, holder: 'other' });
  });
});
