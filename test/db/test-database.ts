// Makes a migrated database for one test file, on the cluster of TEST_DATABASE_URL or on one started here.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { connect, type Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../dev/postgres/postgres.ts';

export type TestDatabase = { db: Db; url: string; drop(): Promise<void> };

/** Copies the database that TEST_DATABASE_TEMPLATE names by its URL, if that is on the same cluster; else migrates. */
export async function createTestDatabase(clusterUrl = process.env.TEST_DATABASE_URL): Promise<TestDatabase> {
  const cluster = clusterUrl ? { url: clusterUrl, stop: async () => undefined } : await startCluster();
  const admin = connect(cluster.url, 1);
  const url = new URL(cluster.url);
  url.pathname = `weir_test_${randomBytes(6).toString('hex')}`;
  const name = sql.id(url.pathname.slice(1));
  const template = findTemplate(url.host);
  await sql`create database ${name} template ${sql.id(template ?? 'template1')}`.execute(admin);
  const db = connect(url.href);
  if (template === undefined) await migrate(db);
  return {
    db,
    url: url.href,
    async drop() {
      await db.destroy();
      await sql`drop database ${name} with (force)`.execute(admin);
      await admin.destroy();
      await cluster.stop();
    },
  };
}

function findTemplate(host: string): string | undefined {
  const template = process.env.TEST_DATABASE_TEMPLATE;
  if (template && new URL(template).host === host) return new URL(template).pathname.slice(1);
  return undefined;
}

async function startCluster(): Promise<{ url: string; stop(): Promise<void> }> {
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
