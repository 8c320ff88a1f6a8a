import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { listPartitions, PARTITIONED_TABLES } from '../../../db/upkeep/partitions.ts';
import { preparePartitions } from '../../../db/upkeep/prepare-partitions.ts';
import { preparePartitionsApart } from '../../../worker/duties/prepare-partitions-apart.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { watchStatements } from '../../db/watch-statements.ts';
import { withShortTimeouts } from '../../db/with-short-timeouts.ts';
import { waitUntil } from '../../wait-until.ts';

describe('preparing partitions', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('begins no statement, which may take minutes, once the worker stops', async () => {
    const { db, url } = database;
    const stopped = AbortSignal.abort();
    await assert.rejects(preparePartitionsApart(db, { databaseUrl: url, retentionDays: 8 }, stopped), {
      name: 'AbortError',
    });
    for (const table of PARTITIONED_TABLES) assert.deepEqual(await listPartitions(db, table), []);
  });

  it('reads what is there for as long as it takes, however short the timeouts of the role are', async () => {
    const { db } = database;
    const retentionDays = 8;
    const cutOff = watchStatements(db, (node) => {
      if (JSON.stringify(node).includes('validate constraint')) throw new Error('cut off');
    });
    await assert.rejects(preparePartitions(cutOff, retentionDays), /cut off/);
    const databaseUrl = await withShortTimeouts(database);
    let preparing: Promise<void> | undefined;
    await db.transaction().execute(async (tx) => {
      await sql`lock table block_run_default in share mode`.execute(tx);
      preparing = preparePartitionsApart(db, { databaseUrl, retentionDays }, new AbortController().signal);
      const lasting = waitUntil(async () => {
        const { rows } = await sql`
          select from pg_stat_activity where datname = current_database()
            and query like '%validate constraint%' and clock_timestamp() - query_start > '2s'
            and pid <> pg_backend_pid()`.execute(db);
        return rows.length === 1;
      });
      await Promise.race([preparing, lasting]);
    });
    await preparing;
    for (const table of PARTITIONED_TABLES)
      assert.ok((await listPartitions(db, table)).every(({ attached }) => attached));
  });
});
