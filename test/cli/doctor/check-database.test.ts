import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { sql } from 'kysely';
import { checkDatabase } from '../../../cli/doctor/check-database.ts';
import type { Config } from '../../../config.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { waitUntil } from '../../wait-until.ts';

describe('weir doctor, of the database,', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  async function findError(databaseUrl = database.url) {
    const secretsKeys: Config['secretsKeys'] = [{ id: 'test', key: Buffer.alloc(32) }];
    const found = await checkDatabase({ databaseUrl, databaseConnections: 2, secretsKeys });
    return found.find(({ state }) => state === 'error');
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
