import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { connect } from '../../db/connect.ts';
import { findFreePort } from '../../dev/processes/ports.ts';
import type { Config } from '../../platform/config/config.ts';
import { untilDatabaseIsReady } from '../../worker/open-dependencies.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { startProgram } from '../faults/processes.ts';
import { waitUntil } from '../wait-until.ts';

describe('a worker that starts', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  before(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
  });
  after(async () => {
    await proxy.close();
    await database.drop();
  });

  it('asks for no work while the database refuses its password, until it is told to stop', async () => {
    const databaseUrl = Object.assign(new URL(proxy.url), { password: 'wrong' }).href;
    const db = connect(databaseUrl, 1);
    const stopping = new AbortController();
    let answered = false;
    const waiting = untilDatabaseIsReady(db, { databaseUrl }, stopping.signal).then(() => {
      answered = true;
    });
    await waitUntil(() => proxy.connections() >= 2);
    assert.equal(answered, false);
    stopping.abort();
    await waiting;
    await db.destroy();
  });

  it('ends when it is told to stop while it waits, as the first process of a container does only by itself', async () => {
    const port = await findFreePort();
    const worker = await startProgram(
      { config: { apiKeyPepper: 'p'.repeat(32), taskQueue: 'none' } as Config },
      'worker/worker.ts',
      {
        DATABASE_URL: Object.assign(new URL(proxy.url), { password: 'wrong' }).href,
        WEIR_HEALTH_PORT: String(port),
      },
      /"msg":"The service is not ready until this is mended/,
    );
    try {
      // It listens on this port before it waits.
      await waitUntil(() =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
      assert.equal(await worker.stop(), 0);
    } finally {
      await worker.kill();
    }
  });

  it('goes on once the database answers', async () => {
    proxy.cut();
    const db = connect(proxy.url, 1);
    const waiting = untilDatabaseIsReady(db, { databaseUrl: proxy.url });
    const before = proxy.connections();
    await waitUntil(() => proxy.connections() > before);
    await proxy.restore();
    await waiting;
    await db.destroy();
  });

  it('asks for no work while the database lacks a migration', async () => {
    const { rows } = await sql<{ name: string }>`
      delete from kysely_migration where name = (select max(name) from kysely_migration) returning name`.execute(
      database.db,
    );
    const db = connect(proxy.url, 1);
    const before = proxy.connections();
    let ready = false;
    const waiting = untilDatabaseIsReady(db, { databaseUrl: proxy.url }).then(() => {
      ready = true;
    });
    // That of the pool, and one for each of two looks.
    await waitUntil(() => proxy.connections() >= before + 3);
    assert.equal(ready, false);
    await sql`insert into kysely_migration (name, timestamp) values (${rows[0]?.name}, '')`.execute(
      database.db,
    );
    await waiting;
    await db.destroy();
  });
});
