// A migrated database of a test file's own, on the cluster that TEST_DATABASE_URL administers or on one started here.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { connect, type Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../embedded/postgres/postgres.ts';

export type TestDatabase = { db: Db; url: string; drop(): Promise<void> };

export async function createTestDatabase(): Promise<TestDatabase> {
  const cluster = await findCluster();
  const admin = connect(cluster.url, 1);
  const name = `weir_test_${randomBytes(6).toString('hex')}`;
  await sql`create database ${sql.id(name)}`.execute(admin);
  const url = new URL(cluster.url);
  url.pathname = name;
  const db = connect(url.href);
  await migrate(db);
  return {
    db,
    url: url.href,
    async drop() {
      await db.destroy();
      await sql`drop database ${sql.id(name)} with (force)`.execute(admin);
      await admin.destroy();
      await cluster.stop();
    },
  };
}

async function findCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: async () => undefined };
  const stateFolder = await mkdtemp(path.join(tmpdir(), 'weir-test-'));
  const postgres = await startPostgres({
    stateFolder,
    password: randomBytes(12).toString('hex'),
    durable: false,
  });
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop();
      await rm(stateFolder, { recursive: true, force: true });
    },
  };
}
