import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { restoreBackup } from '../../../db/backup/restore-backup.ts';
import { writeBackup } from '../../../db/backup/write-backup.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { withShortTimeouts } from '../with-short-timeouts.ts';

describe('a backup and its restore', () => {
  let folder: string;
  const databases: TestDatabase[] = [];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-backup-'));
  });
  after(async () => {
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true });
  });

  async function createDatabase(): Promise<TestDatabase> {
    const database = await createTestDatabase();
    databases.push(database);
    return database;
  }
  /** Keeps the transaction open for longer than the timeouts allow. */
  function dawdle(): () => void {
    let isDone = false;
    return () => {
      if (!isDone) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
      isDone = true;
    };
  }

  it('take as long as they need, however short the timeouts of the role are', async () => {
    const [from, to] = [await createDatabase(), await createDatabase()];
    await openAccount(from.db, 100, 1);
    const file = path.join(folder, 'weir.tar.gz');
    const { rows } = await writeBackup(await withShortTimeouts(from), file, dawdle());
    const url = await withShortTimeouts(to);
    await to.db.destroy();
    assert.deepEqual((await restoreBackup(url, file, { progress: dawdle() })).rows, rows);
  });
});
