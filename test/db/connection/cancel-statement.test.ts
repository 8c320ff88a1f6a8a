import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { connect } from '../../../db/connect.ts';
import { logOutage } from '../../../db/connection/database-errors.ts';
import { captureLog } from '../../capture-log.ts';
import { createAuthority } from '../../certificates.ts';
import { startTcpProxy } from '../../fakes/tcp-proxy.ts';
import { startTlsProxy } from '../../fakes/tls-proxy.ts';
import { waitUntil } from '../../wait-until.ts';
import { itWith } from '../../where-available.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const PATIENCE_MS = 300;

describe('a statement that is given up', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const slow = sql`select pg_sleep(300)`;

  async function countSlow(): Promise<number> {
    const { rows } = await sql<{ count: number }>`select count(*) from pg_stat_activity
      where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`.execute(
      database.db,
    );
    return Number(rows[0]?.count);
  }

  /** Gives up a statement and a transaction at `url`, and waits until PostgreSQL carries out neither. */
  async function giveUpAt(url: string): Promise<void> {
    const db = connect(url, 2, PATIENCE_MS);
    const failed = { name: 'ConnectionFailed', failure: 'slow', mayBeCarriedOut: true };
    try {
      await Promise.all([
        assert.rejects(slow.execute(db), failed),
        assert.rejects(
          db.transaction().execute((tx) => slow.execute(tx)),
          failed,
        ),
      ]);
      await waitUntil(async () => (await countSlow()) === 0);
      await sql`select 1`.execute(db);
    } finally {
      await db.destroy();
    }
  }

  it('is ended in PostgreSQL too', () => giveUpAt(database.url));

  itWith(['openssl'], 'is ended over TLS where that is required', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'weir-test-'));
    const authorityFile = path.join(folder, 'ca.pem');
    const authority = createAuthority();
    await writeFile(authorityFile, authority.pem);
    const proxy = await startTlsProxy(database.url, { ...authority.issue(['localhost']), authorityFile });
    try {
      await giveUpAt(proxy.url);
    } finally {
      await proxy.close();
      await rm(folder, { recursive: true });
    }
  });

  it('keeps its connection from others until PostgreSQL has been asked to end it', async () => {
    const proxy = await startTcpProxy(database.url);
    const db = connect(proxy.url, 1, PATIENCE_MS);
    try {
      await sql`select 1`.execute(db);
      proxy.stall();
      const before = proxy.connections();
      await assert.rejects(slow.execute(db));
      await waitUntil(() => proxy.connections() === before + 1);
      const next = sql`select 1`.execute(db);
      await setTimeout(200);
      // The request to cancel, and none for the next statement.
      assert.equal(proxy.connections(), before + 1);
      await proxy.restore();
      await next;
    } finally {
      await db.destroy();
      await proxy.close();
    }
  });

  it('is a line of its own in the log, and no outage', async () => {
    const captured = captureLog();
    const db = connect(database.url, 1, PATIENCE_MS);
    try {
      const error = await slow.execute(db).catch((reason: unknown) => reason);
      assert.equal(logOutage(error), true);
      assert.deepEqual(
        captured.lines.map(({ msg, statement }) => [msg, statement]),
        [['A statement took too long, and is cancelled.', 'select pg_sleep(300)']],
      );
    } finally {
      captured.stop();
      await db.destroy();
    }
  });
});
