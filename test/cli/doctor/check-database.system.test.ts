import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { sql } from 'kysely';
import { checkDatabase } from '../../../cli/doctor/check-database.ts';
import type { Result } from '../../../cli/doctor/finding.ts';
import { listLongWaiting } from '../../../db/migrate.ts';
import type { Config } from '../../../platform/config/config.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { waitUntil } from '../../wait-until.ts';

describe('weir doctor, of the database,', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  function check(databaseUrl = database.url, found: Result[] = []) {
    const secretsKeys: Config['secretsKeys'] = [{ id: 'test', key: Buffer.alloc(32) }];
    return checkDatabase({ databaseUrl, databaseConnections: 2, secretsKeys }, found);
  }
  const isError = ({ state }: Result) => state === 'error';
  const findError = async (databaseUrl?: string) => (await check(databaseUrl)).find(isError);

  /** Returns the address at which the probe of writing, and nothing else that is looked at, does this before all else. */
  async function whereWritesDo(statement: string) {
    await sql`create or replace function public.set_config(text, text, boolean) returns text language plpgsql as ${sql.lit(
      `begin ${statement}; return null; end`,
    )}`.execute(database.db);
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=public,pg_catalog');
    return url.href;
  }

  it('says that PostgreSQL has no free connection, and what to do', async () => {
    const url = Object.assign(new URL(database.url), { password: 'p' });
    url.username = `weir_crowded_${path.basename(url.pathname)}`;
    const role = sql.id(url.username);
    await sql`create role ${role} login password 'p' connection limit 0`.execute(database.db);
    try {
      const found = await findError(url.href);
      assert.match(found?.message ?? '', /has no free connection \(max_connections\): too many connections/);
      assert.match(found?.mend ?? '', /^End sessions .*pg_stat_activity.* raise max_connections/);
    } finally {
      await sql`drop role ${role}`.execute(database.db);
    }
  });

  it('says so too where the connection that tries to write is the first that is refused', async () => {
    const url = await whereWritesDo(`raise 'sorry, too many clients already' using errcode = '53300'`);
    const found = await findError(url);
    assert.match(found?.message ?? '', /has no free connection \(max_connections\): sorry, too many clients/);
    assert.match(found?.mend ?? '', /^End sessions /);
  });

  it('asks for room on the disk only where there is none', async () => {
    const full = await findError(await whereWritesDo(`raise 'No space left' using errcode = '53100'`));
    assert.equal(full?.message, 'The database has no room left on its disk.');
    assert.equal(full?.mend, 'Free or add disk space.');
    const slow = await findError(await whereWritesDo('perform pg_sleep(7)'));
    assert.match(slow?.message ?? '', /did not answer a query within 6 s\.$/);
    assert.match(slow?.mend ?? '', /busy/);
    const broken = await findError(await whereWritesDo(`raise 'out of memory' using errcode = '53200'`));
    assert.match(broken?.message ?? '', /cannot be used: out of memory\.$/);
    assert.equal(broken?.mend, 'See the log of PostgreSQL.');
  });

  it('keeps what it has found, and does not take a slow step for a clock apart', async () => {
    const { db } = database;
    const url = await whereWritesDo('perform pg_advisory_lock(7)');
    await db.insertInto('organization').values({ slug: randomUUID(), name: 'Acme' }).execute();
    const realNow = Date.now;
    const found: Result[] = [];
    const { checking, update } = await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(7)`.execute(tx);
      await sql`select from organization for update`.execute(tx);
      const update = sql`update organization set name = name`.execute(db);
      await waitUntil(async () => (await listLongWaiting(db, 3)).length > 0);
      const checking = check(url, found);
      await waitUntil(() => found.some(isError));
      assert.match(found.find(isError)?.message ?? '', /^1 statement waits .* for a lock of /);
      Date.now = () => realNow() + 20_000;
      return { checking, update };
    });
    const all = await checking.finally(() => {
      Date.now = realNow;
    });
    await update;
    assert.deepEqual(
      all.filter(({ message }) => message.includes('clock')),
      [],
    );
  });

  it('says that the user may not write all tables, though it may write most', async () => {
    const { db } = database;
    const url = Object.assign(new URL(database.url), { password: 'p' });
    url.username = `weir_limited_${path.basename(url.pathname)}`;
    const role = sql.id(url.username);
    await sql`create role ${role} login password 'p'`.execute(db);
    try {
      await sql`grant usage, create on schema public to ${role}`.execute(db);
      await sql`grant all on all tables in schema public to ${role}`.execute(db);
      assert.doesNotMatch((await findError(url.href))?.message ?? '', /may not/);
      await sql`revoke delete on webhook_secret from ${role}`.execute(db);
      assert.match((await findError(url.href))?.message ?? '', /^The user may not read, .* of all tables\.$/);
    } finally {
      await sql`drop owned by ${role}`.execute(db);
      await sql`drop role ${role}`.execute(db);
    }
  });

  const LOCKS = {
    'a table': sql`lock table organization in access exclusive mode`,
    'a row': sql`select from organization for update`,
  };
  for (const [what, lock] of Object.entries(LOCKS))
    it(`names the session that holds the lock of ${what} for which a statement waits long`, async () => {
      const { db } = database;
      await db.insertInto('organization').values({ slug: randomUUID(), name: 'Acme' }).execute();
      const { update } = await db.transaction().execute(async (tx) => {
        await lock.execute(tx);
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        const update = sql`update organization set name = name`.execute(db);
        const found = await waitUntil(() => findError());
        const holder = `process ${rows[0]?.pid} of PostgreSQL \\(${new URL(database.url).username}, `;
        assert.match(
          found.message,
          new RegExp(`^1 statement waits .* for a lock of ${holder}.*last statement SELECT, `),
        );
        assert.match(found.mend ?? '', /pg_terminate_backend/);
        return { update };
      });
      await update;
      assert.equal(await findError(), undefined);
    });
});
