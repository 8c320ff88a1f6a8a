import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { restoreBackup } from '../../../db/backup/restore-backup.ts';
import { writeBackup } from '../../../db/backup/write-backup.ts';
import { connect } from '../../../db/connect.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { describeWithPostgres, startDebianPostgres } from '../debian-postgres.ts';
import { createTestDatabase } from '../test-database.ts';
import { withShortTimeouts } from '../with-short-timeouts.ts';

describeWithPostgres('a backup and its restore', () => {
  let postgres: Awaited<ReturnType<typeof startDebianPostgres>>;
  let folder: string;
  before(async () => {
    postgres = await startDebianPostgres();
    folder = await mkdtemp(path.join(tmpdir(), 'weir-backup-'));
  });
  after(async () => {
    await postgres.stop();
    await rm(folder, { recursive: true });
  });

  it('take as long as they need, however short the timeouts of the role are', async () => {
    const [from, to] = [await createTestDatabase(postgres.url), await createTestDatabase(postgres.url)];
    await openAccount(from.db, 100, 1);
    // An index whose making takes longer than the timeouts allow.
    await sql`create function slow(uuid) returns uuid language plpgsql immutable as
      $$ begin perform pg_sleep(1.5); return $1; end $$`.execute(from.db);
    await sql`create index slow on public.run (public.slow(execution_id))`.execute(from.db);
    const file = path.join(folder, 'weir.dump');
    await writeBackup(await withShortTimeouts(from), file);
    const url = await withShortTimeouts(to);
    await to.db.destroy();
    await restoreBackup(url, file);
    to.db = connect(to.url);
    const { rows } = await sql`select execution_id from run`.execute(to.db);
    assert.equal(rows.length, 1);
    await from.drop();
    await to.drop();
  });
});
