import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { connect, type Db } from '../../../db/connect.ts';
import {
  ConnectionShareUsed,
  createConnectionTurns,
  onBehalfOf,
} from '../../../db/connection/connection-turns.ts';
import { countLockWaiters, lockWaiters } from '../lock-waiters.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('turns at connections', () => {
  let database: TestDatabase;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => {
    db = connect(database.url, 4);
  });
  afterEach(() => db.destroy());
  after(() => database.drop());

  const read = () => db.selectFrom('organization').select('slug').execute();

  /** Runs `work` while statements of `a`, many more than there are connections, wait for a table that is locked. */
  async function besideMany(work: () => Promise<void>): Promise<unknown> {
    const many = await database.db.transaction().execute(async (tx) => {
      await sql`lock table organization in access exclusive mode`.execute(tx);
      const many = onBehalfOf('a', () => Promise.all(Array.from({ length: 40 }, read)));
      many.catch(() => undefined);
      await lockWaiters(database.db, 3);
      await work();
      return { many };
    });
    return many.many;
  }

  it('keep connections for other organizations, and lose none', async () => {
    await besideMany(async () => {
      for (let time = 0; time < 5; time += 1)
        await onBehalfOf('b', () => db.transaction().execute((tx) => sql`select 1`.execute(tx)));
    });
    // All connections are there again.
    await onBehalfOf('a', () => Promise.all(Array.from({ length: 40 }, read)));
  });

  it('leave few connections to all organizations together while several are present', async () => {
    await onBehalfOf('b', () => sql`select 1`.execute(db));
    const many = await database.db.transaction().execute(async (tx) => {
      await sql`lock table organization in access exclusive mode`.execute(tx);
      const many = onBehalfOf('a', () => Promise.all(Array.from({ length: 40 }, read)));
      many.catch(() => undefined);
      await lockWaiters(database.db, 2);
      assert.equal(await countLockWaiters(database.db), 2);
      return { many };
    });
    await many.many;
  });

  it('that do not come are the fault of an owner that holds connections, and of no other', async () => {
    const takeTurn = createConnectionTurns(4, 1);
    await onBehalfOf('a', () => Promise.all([takeTurn(), takeTurn(), takeTurn()]));
    await assert.rejects(onBehalfOf('a', takeTurn), ConnectionShareUsed);
    await onBehalfOf('b', takeTurn);
    await assert.rejects(onBehalfOf('c', takeTurn), { name: 'TimeoutError' });
  });

  it('do not hold up the service’s own work', async () => {
    await besideMany(async () => void (await sql`select 1`.execute(db)));
  });

  it('end when statements fail and when connections are lost', async () => {
    await onBehalfOf('a', async () => {
      for (let time = 0; time < 8; time += 1) await assert.rejects(sql`select 1 / 0`.execute(db));
      for (let time = 0; time < 8; time += 1)
        await assert.rejects(sql`select pg_terminate_backend(pg_backend_pid())`.execute(db));
    });
    assert.deepEqual(
      await onBehalfOf('a', () => Promise.all(Array.from({ length: 8 }, read))),
      Array(8).fill([]),
    );
  });
});
