import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { connect, type Db, inTransaction } from '../../../db/connect.ts';
import { ConnectionFailed, logOutage, toQueryFailure } from '../../../db/connection/database-errors.ts';
import { captureLog } from '../../capture-log.ts';
import { startTcpProxy, type TcpProxy } from '../../fakes/tcp-proxy.ts';
import { waitUntil } from '../../wait-until.ts';
import { endLockWaiters, lockWaiters } from '../lock-waiters.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('an outage of the database', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
  });
  beforeEach(async () => {
    await proxy.restore();
    db = connect(proxy.url, 2);
  });
  afterEach(() => db.destroy());
  after(async () => {
    await proxy.close();
    await database.drop();
  });

  const read = () => db.selectFrom('organization').select('slug').execute();

  /** Cuts the connection of `work` while it waits in its middle for a table that is locked. */
  async function cutUnder<T>(work: () => Promise<T>): Promise<T> {
    const { pending } = await database.db.transaction().execute(async (tx) => {
      await sql`lock table organization in access exclusive mode`.execute(tx);
      const pending = work();
      pending.catch(() => undefined);
      await lockWaiters(database.db, 1);
      await endLockWaiters(database.db);
      return { pending };
    });
    return pending;
  }

  it('is waited out when a connection is needed', async () => {
    proxy.cut();
    const before = proxy.connections();
    const reading = read();
    await waitUntil(() => proxy.connections() >= before + 2);
    await proxy.restore();
    assert.deepEqual(await reading, []);
  });

  it('ends in ConnectionFailed with the cause when it lasts, for a query and for a transaction', async () => {
    proxy.cut();
    const failed = { name: 'ConnectionFailed', failure: 'unreachable' };
    const outcomes = await Promise.allSettled([read(), inTransaction(db, (tx) => sql`select 1`.execute(tx))]);
    for (const outcome of outcomes) {
      assert(outcome.status === 'rejected');
      assert.equal(outcome.reason.name, failed.name);
      assert.equal(outcome.reason.failure, failed.failure);
      assert(outcome.reason.cause instanceof Error);
    }
  });

  it('is not waited out when the password is wrong, and its reason names DATABASE_URL', async () => {
    const url = Object.assign(new URL(proxy.url), { password: 'wrong' });
    const stranger = connect(url.href, 1);
    const before = proxy.connections();
    await assert.rejects(sql`select 1`.execute(stranger), {
      name: 'ConnectionFailed',
      failure: 'refused',
      message: /^The database refuses the password: correct DATABASE_URL .*password authentication failed/,
    });
    assert.equal(proxy.connections(), before + 1);
    await stranger.destroy();
  });

  it('during a plain read makes the pool read again', async () => {
    assert.deepEqual(await cutUnder(read), []);
  });

  it('during a read of what is committed by now makes the pool read again', async () => {
    const reading = () =>
      sql`select slug, pg_snapshot_xmin(pg_current_snapshot()) from organization`.execute(db);
    assert.deepEqual((await cutUnder(reading)).rows, []);
  });

  it('before a transaction has begun makes it begin on another connection', async () => {
    await read();
    // This process has not heard yet that its connection is gone.
    await proxy.restore();
    assert.deepEqual(
      await inTransaction(db, (tx) => tx.selectFrom('organization').select('id').execute()),
      [],
    );
  });

  const once: { [what: string]: () => Promise<unknown> } = {
    'a transaction': () =>
      db.transaction().execute((tx) => tx.selectFrom('organization').select('id').execute()),
    'a write': () => db.deleteFrom('organization').execute(),
    'a SELECT with a writing WITH': () =>
      db
        .with('gone', (qb) => qb.deleteFrom('organization').returning('id'))
        .selectFrom('gone')
        .select('id')
        .execute(),
    pg_notify: () => sql`select pg_notify('weir_test', slug) from organization`.execute(db),
  };
  for (const [what, work] of Object.entries(once))
    it(`in the middle of ${what} is reported, and nothing is repeated`, async () => {
      await assert.rejects(cutUnder(work), { name: 'ConnectionFailed', failure: 'lost' });
    });

  it('is what PostgreSQL says to a transaction that it has ended with its connection', () => {
    for (const code of ['25P03', '25P04']) {
      const ended = Object.assign(new pg.DatabaseError('terminating connection', 0, 'error'), { code });
      const failed = toQueryFailure(ended, false);
      assert(failed instanceof ConnectionFailed);
      assert.equal(failed.failure, 'lost');
    }
  });

  it('is reported within seconds when the database is silent, also to the next query', async () => {
    await read();
    proxy.silence();
    await assert.rejects(read(), { name: 'ConnectionFailed', failure: 'silent' });
    await assert.rejects(
      db.transaction().execute(() => read()),
      { name: 'ConnectionFailed', failure: 'silent' },
    );
    await proxy.restore();
    assert.deepEqual(await read(), []);
  });

  it('is not assumed when a query is slow', async () => {
    await sql`select pg_sleep(3)`.execute(db);
  });

  it('is not assumed when this process was held up, and reads the answer late', async () => {
    const slow = sql`select pg_sleep(2)`.execute(db);
    await setTimeout(1_000);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
    await slow;
  });

  it('is not assumed while statements are answered, however long a new connection takes', async () => {
    // Both connections of the pool are open.
    await Promise.all([1, 2].map(() => sql`select pg_sleep(0.5)`.execute(db)));
    proxy.stall();
    let over = false;
    const slow = sql`select pg_sleep(5)`.execute(db).finally(() => {
      over = true;
    });
    slow.catch(() => undefined);
    while (!over) {
      assert.deepEqual(await read(), []);
      await setTimeout(50);
    }
    await slow;
  });

  it('is not assumed for a fault: a wrong query, a wrong value, a bug', async () => {
    const faults = [
      sql`select 1 / 0`.execute(db),
      sql`select ${'x'}::uuid`.execute(db),
      db.transaction().execute(async () => {
        throw new TypeError('a bug');
      }),
      sql`select ${{
        toPostgres: () => {
          throw new Error('a value that cannot be sent');
        },
      }}`.execute(db),
    ];
    for (const outcome of await Promise.allSettled(faults)) {
      assert(outcome.status === 'rejected');
      assert.notEqual(outcome.reason.name, 'ConnectionFailed');
    }
    assert.deepEqual(await read(), []);
  });

  it('costs the pool no connection, however statements fail', async () => {
    const cut = sql`select pg_terminate_backend(pg_backend_pid())`;
    for (let time = 0; time < 4; time += 1) {
      await assert.rejects(sql`select 1 / 0`.execute(db));
      await assert.rejects(cut.execute(db));
      await assert.rejects(db.transaction().execute((tx) => cut.execute(tx)));
    }
    assert.deepEqual(await Promise.all(Array.from({ length: 8 }, read)), Array(8).fill([]));
  });

  it('includes a database that does not accept writes; the connection is not used again', async () => {
    const slug = randomUUID();
    const insert = () => db.insertInto('organization').values({ slug, name: slug }).execute();
    await sql`set default_transaction_read_only = on`.execute(db);
    await assert.rejects(insert(), { name: 'ConnectionFailed', failure: 'refused' });
    await insert();
    await db.deleteFrom('organization').where('slug', '=', slug).execute();
  });

  it('is not over while the database takes no writes, whatever is read meanwhile', async () => {
    const captured = captureLog();
    const isOver = () => captured.lines.some(({ msg }) => msg === 'The database is back.');
    const name = sql.id(new URL(database.url).pathname.slice(1));
    await sql`alter database ${name} set default_transaction_read_only = on`.execute(database.db);
    await assert.rejects(db.deleteFrom('organization').execute(), logOutage);
    const until = performance.now() + 7_000;
    while (performance.now() < until) {
      await read();
      await setTimeout(50);
    }
    assert.equal(isOver(), false);
    await sql`alter database ${name} reset default_transaction_read_only`.execute(database.db);
    await waitUntil(async () => {
      await read();
      return isOver();
    });
    captured.stop();
  });

  it('is not assumed for a deadlock: the transaction that lost it is repeated', async () => {
    const ids: string[] = [];
    for (const slug of ['a', 'b']) {
      const { id } = await db
        .insertInto('organization')
        .values({ slug: `${slug}-${randomUUID()}`, name: slug })
        .returning('id')
        .executeTakeFirstOrThrow();
      ids.push(id);
    }
    let attempts = 0;
    let bothHold = 0;
    let go: () => void = () => undefined;
    const met = new Promise<void>((resolve) => {
      go = resolve;
    });
    const cross = ([first, second]: string[]) =>
      inTransaction(db, async (tx) => {
        attempts += 1;
        const touch = (id = '') =>
          tx.updateTable('organization').set({ name: 'touched' }).where('id', '=', id).execute();
        await touch(first);
        bothHold += 1;
        if (bothHold === 2) go();
        await met;
        await touch(second);
      });
    await Promise.all([cross(ids), cross(ids.toReversed())]);
    // PostgreSQL may roll back both, if they look for the deadlock at the same moment.
    assert.ok(attempts === 3 || attempts === 4, `${attempts} attempts`);
    await db.deleteFrom('organization').execute();
  });
});
