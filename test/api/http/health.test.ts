import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import manifest from '../../../package.json' with { type: 'json' };
import { captureLog } from '../../capture-log.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { startTcpProxy, type TcpProxy } from '../../fakes/tcp-proxy.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

/** An answer is kept for a second. */
const KEPT_MS = 1_100;

describe('/healthz and /readyz', () => {
  let engine: TcpProxy;
  let weir: Weir;
  before(async () => {
    const address = process.env.TEST_TEMPORAL_ADDRESS ?? 'localhost:7233';
    engine = await startTcpProxy(`http://${address}`);
    weir = await startWeir({ env: { TEMPORAL_ADDRESS: new URL(engine.url).host }, worker: false });
  });
  after(async () => {
    await engine.restore();
    await weir.stop();
    await engine.close();
  });

  const ask = async (path: string) => {
    const response = await fetch(`${weir.url}${path}`);
    const { status, away } = (await response.json()) as { status: string; away: { [part: string]: string } };
    return { code: response.status, retryAfter: response.headers.get('retry-after'), status, away };
  };
  /** Asks until the answer fits: an answer is kept for a second, and on a slow machine a part may seem away. */
  const until = (fits: (answer: Awaited<ReturnType<typeof ask>>) => boolean, path = '/readyz') =>
    waitUntil(async () => {
      const answer = await ask(path);
      return fits(answer) && answer;
    });

  it('say that no worker asks for work; runs are accepted all the same', async () => {
    const away = { workers: 'no worker asks for work' };
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ] as const) {
      const answer = await until(({ away }) => !away.database && !away.engine, path);
      assert.deepEqual(answer, { code: 200, retryAfter: null, status, away });
    }
  });

  it('name the version and the build of the process', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const body = (await (await fetch(`${weir.url}${path}`)).json()) as object;
      assert.partialDeepStrictEqual(body, { version: manifest.version, build: null }, path);
    }
  });

  it('name a database that does not accept writes: /readyz is 503', async () => {
    const name = new URL(weir.config.databaseUrl).pathname.slice(1);
    await sql`alter database ${sql.id(name)} set default_transaction_read_only = on`.execute(weir.db);
    const database = 'does not accept writes: default_transaction_read_only is on';
    const away = { database, workers: 'no worker asks for work' };
    const takesNone = ({ away }: { away: { [part: string]: string } }) => away.database === database;
    assert.deepEqual(await until(takesNone), {
      code: 503,
      retryAfter: '5',
      status: 'not ready',
      away,
    });
    assert.deepEqual(await until(takesNone, '/healthz'), { code: 200, retryAfter: null, status: 'ok', away });
    await sql`alter database ${sql.id(name)} reset default_transaction_read_only`.execute(weir.db);
    await until(({ away }) => away.database === undefined);
  });

  it('name a database whose disk is full: /readyz is 503', async () => {
    const name = new URL(weir.config.databaseUrl).pathname.slice(1);
    // PostgreSQL answers so when it cannot write the file that the probe asks for.
    await sql`create schema full_disk`.execute(weir.db);
    await sql`create function full_disk.generate_series(integer, integer) returns setof integer language plpgsql as
      $$ begin raise sqlstate '53100' using message = 'No space left on device'; end $$`.execute(weir.db);
    await sql`alter database ${sql.id(name)} set search_path = full_disk, pg_catalog, public`.execute(
      weir.db,
    );
    const answer = await until(({ away }) => away.database === 'has no room left on its disk');
    assert.deepEqual([answer.code, answer.status, answer.retryAfter], [503, 'not ready', '5']);
    await sql`alter database ${sql.id(name)} reset search_path`.execute(weir.db);
    await sql`drop schema full_disk cascade`.execute(weir.db);
    await until(({ away }) => away.database === undefined);
  });

  it('name a database that lacks a migration, and the log says so once: /readyz is 503 until it is applied', async () => {
    const captured = captureLog();
    const taken = await sql<{ name: string; timestamp: string }>`
      delete from kysely_migration where name = (select max(name) from kysely_migration) returning *`.execute(
      weir.db,
    );
    const away = 'has not been migrated: run npm run migrate';
    for (let times = 0; times < 2; times += 1) {
      const answer = await until(({ away: { database } }) => database === away);
      assert.deepEqual([answer.code, answer.status], [503, 'not ready']);
      await setTimeout(KEPT_MS);
    }
    for (const { name, timestamp } of taken.rows)
      await sql`insert into kysely_migration values (${name}, ${timestamp})`.execute(weir.db);
    assert.equal((await until(({ away }) => away.database === undefined)).code, 200);
    captured.stop();
    const lines = captured.lines.filter(({ reason }) => reason === `The database ${away}.`);
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['error'],
    );
  });

  it('stay ready on the schema of a newer release', async () => {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-newer', now()::text)`.execute(
      weir.db,
    );
    await setTimeout(KEPT_MS);
    assert.equal((await until(({ away }) => !away.database && !away.engine)).code, 200);
    await sql`delete from kysely_migration where name = '9999-newer'`.execute(weir.db);
  });

  it('name an engine that is silent', async () => {
    engine.silence();
    for (const path of ['/readyz', '/healthz'])
      await until(({ away }) => away.engine === 'does not answer' && !away.database, path);
    await engine.restore();
    await until(({ away }) => away.engine === undefined);
  });
});

describe('/readyz, where the database is silent', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let weir: Weir;
  before(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
    weir = await startWeir({ env: { DATABASE_URL: proxy.url }, worker: false });
  });
  after(async () => {
    await weir.stop();
    await proxy.close();
    await database.drop();
  });

  it('names it, and so does /healthz', async () => {
    proxy.silence();
    await setTimeout(KEPT_MS);
    for (const [path, status] of [
      ['/healthz', 200],
      ['/readyz', 503],
    ] as const) {
      const response = await fetch(`${weir.url}${path}`);
      const { away } = (await response.json()) as { away: { database?: string } };
      assert.deepEqual([response.status, away.database], [status, 'does not answer']);
    }
    await proxy.restore();
    await waitUntil(async () => (await fetch(`${weir.url}/readyz`)).status !== 503);
  });
});

describe('/readyz, where the configuration is wrong', () => {
  const wrong = (change: { password?: string; pathname?: string; port?: string; search?: string }) =>
    Object.assign(new URL(process.env.TEST_DATABASE_URL ?? 'postgres://postgres:weir@127.0.0.1'), change)
      .href;
  const cases: {
    [what: string]: { env: NodeJS.ProcessEnv; away: { [part: string]: string }; logs: boolean };
  } = {
    'the password': {
      env: { DATABASE_URL: wrong({ password: 'a-wrong-secret' }) },
      away: { database: 'refuses the password: correct DATABASE_URL (or PGPASSWORD)' },
      logs: true,
    },
    'the name of the database': {
      env: { DATABASE_URL: wrong({ pathname: 'nosuch' }) },
      away: { database: 'is not there by that name: correct DATABASE_URL' },
      logs: true,
    },
    'the lack of TLS': {
      env: { DATABASE_URL: wrong({ search: '?sslmode=verify-full' }) },
      away: { database: 'has no TLS: correct sslmode in DATABASE_URL, or turn TLS on in PostgreSQL' },
      logs: true,
    },
    'the port of the database': {
      env: { DATABASE_URL: wrong({ port: '1' }) },
      away: { database: 'does not answer: the connection was refused' },
      logs: false,
    },
    'the namespace': {
      env: { TEMPORAL_NAMESPACE: 'nosuch' },
      away: { engine: 'has no namespace nosuch: correct TEMPORAL_NAMESPACE, or create it' },
      logs: true,
    },
  };
  for (const [what, { env, away, logs }] of Object.entries(cases))
    it(`names ${what}, and so does the log, without secrets`, async () => {
      const captured = captureLog();
      const weir = await startWeir({ env, worker: false });
      try {
        const [[part, words] = []] = Object.entries(away);
        const lines = () => captured.lines.filter(({ reason }) => reason === `The ${part} ${words}.`);
        const told = await waitUntil(async () => {
          const response = await fetch(`${weir.url}/readyz`);
          const body = (await response.json()) as { away: { [part: string]: string } };
          // What answers late on a busy machine is in the log after the next look.
          const isTold = !logs || lines().length > 0;
          return (
            part !== undefined && body.away[part] === words && isTold && { status: response.status, body }
          );
        });
        assert.equal(told.status, 503);
        assert.equal(lines().length, logs ? 1 : 0);
        assert.doesNotMatch(JSON.stringify([told.body, captured.lines]), /a-wrong-secret/);
      } finally {
        await weir.stop();
        captured.stop();
      }
    });
});
