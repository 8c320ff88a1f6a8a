import assert from 'node:assert/strict';
import { listPartitions, PARTITIONED_TABLES } from '../../../db/upkeep/partitions.ts';
import { preparePartitionsApart } from '../../../worker/duties/prepare-partitions-apart.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

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
});
