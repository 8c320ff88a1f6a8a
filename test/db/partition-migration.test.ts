import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import type { Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { listBlocksOfCall } from '../../db/runs/list-recorded-blocks.ts';
import { preparePartitions } from '../../db/upkeep/prepare-partitions.ts';
import { waitUntil } from '../wait-until.ts';
import { openAccount, settle } from './credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

const MIGRATION = '0027-partitions';

describe('the migration to partitions', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await sql`drop schema public cascade`.execute(database.db);
    await sql`create schema public`.execute(database.db);
    await migrateWithout(database.db, MIGRATION);
  });
  after(() => database.drop());

  it('keeps every row, waits for who is writing, and lets blocks that had failed be recorded again', async () => {
    const { db } = database;
    const account = await openAccount(db, 100, 20);
    const [id = ''] = account.runs;
    const failed = { code: 'INTERNAL_ERROR' as const, message: 'failed' };
    for (const callId of account.runs)
      await settle(db, account, {
        callId,
        blockKey: 'ask',
        costMicrocredits: 1,
        ...(callId === id && { error: failed, costMicrocredits: 0 }),
      });
    let migrating: Promise<unknown> | undefined;
    await db.transaction().execute(async (tx) => {
      await sql`update block_run set name = name where execution_id = ${id}`.execute(tx);
      migrating = migrate(db);
      await waitUntil(async () => {
        const { rows } = await sql`
          select from pg_stat_activity
          where datname = current_database() and query like 'do $$%' and wait_event = 'PgSleep'`.execute(db);
        return rows.length === 1;
      });
      // While it rests between two tries, nobody is held up.
      assert.equal((await listBlocksOfCall(db, id)).length, 1);
    });
    await migrating;
    await preparePartitions(db, 30);
    for (const callId of account.runs) assert.equal((await listBlocksOfCall(db, callId)).length, 1);
    assert.equal(await settle(db, account, { callId: id, blockKey: 'ask', costMicrocredits: 1 }), true);
    assert.equal(await settle(db, account, { callId: id, blockKey: 'ask', costMicrocredits: 1 }), false);
    const [block] = await listBlocksOfCall(db, id);
    assert.equal(block?.status, 'completed');
  });
});

/** Makes the schema that all migrations but this one make. */
async function migrateWithout(db: Db, name: string): Promise<void> {
  const migrationFolder = path.join(import.meta.dirname, '../../db/migrations');
  const files = new FileMigrationProvider({ fs, path, migrationFolder });
  const provider = {
    async getMigrations() {
      const { [name]: _, ...others } = await files.getMigrations();
      return others;
    },
  };
  const { error } = await new Migrator({ db, provider, allowUnorderedMigrations: true }).migrateToLatest();
  if (error) throw error;
}
