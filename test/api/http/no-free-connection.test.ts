import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { captureLog } from '../../capture-log.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

/** An answer is kept for a second. */
const KEPT_MS = 1_100;

describe('/readyz, where PostgreSQL has no free connection', () => {
  let database: TestDatabase;
  let weir: Weir;
  let role: ReturnType<typeof sql.id>;
  before(async () => {
    database = await createTestDatabase();
    const url = Object.assign(new URL(database.url), { password: 'p' });
    url.username = `weir_crowded_${url.pathname.slice(1)}`;
    role = sql.id(url.username);
    await sql`create role ${role} login password 'p' in role pg_read_all_data, pg_write_all_data`.execute(
      database.db,
    );
    weir = await startWeir({ env: { DATABASE_URL: url.href }, worker: false });
  });
  after(async () => {
    await weir.stop();
    await sql`drop role ${role}`.execute(database.db);
    await database.drop();
  });

  const ask = async () => {
    const response = await fetch(`${weir.url}/readyz`);
    const { away } = (await response.json()) as { away: { database?: string } };
    return { code: response.status, database: away.database };
  };
  const until = (fits: (answer: Awaited<ReturnType<typeof ask>>) => boolean) =>
    waitUntil(async () => fits(await ask()));

  it('stays 200 while the pool has connections, the log says so once, and 503 names it when it has none', async () => {
    await until(({ code }) => code === 200);
    const captured = captureLog();
    const told = () =>
      captured.lines.filter(({ msg }) => msg.startsWith('PostgreSQL has no free connection'));
    try {
      // Opens a connection of the pool.
      const { plaintext: key } = mintApiKey('live', 'a pepper of at least thirty-two characters');
      assert.equal((await weir.call('GET', 'o/p/f/jobs/x', { key })).status, 401);
      await sql`alter role ${role} connection limit 0`.execute(database.db);
      await until(() => told().length > 0);
      await setTimeout(KEPT_MS);
      await until(({ code, database }) => code === 200 && database === undefined);
      assert.match(String(told()[0]?.reason), /^too many connections for role/);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${new URL(weir.config.databaseUrl).username}`.execute(
        database.db,
      );
      await until(
        ({ code, database }) => code === 503 && database === 'has no free connection (max_connections)',
      );
      assert.deepEqual(
        told().map(({ level }) => level),
        ['warn'],
      );
    } finally {
      await sql`alter role ${role} connection limit -1`.execute(database.db);
      captured.stop();
    }
    await until(({ code }) => code === 200);
  });
});
