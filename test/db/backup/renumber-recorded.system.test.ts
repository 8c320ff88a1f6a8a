import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { restoreBackup } from '../../../db/backup/restore-backup.ts';
import { writeBackup } from '../../../db/backup/write-backup.ts';
import { connect, type Db } from '../../../db/connect.ts';
import { showAttempt } from '../../../db/runs/blocks-under-way.ts';
import { findUpdatedRuns } from '../../../db/runs/find-updated-runs.ts';
import { listRecordedBlocks } from '../../../db/runs/recorded-blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { openAccount, settle } from '../credits/ledger-fixture.ts';
import { describeWithPostgres, startDebianPostgres } from '../debian-postgres.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

/** More transactions than the server of the tests will ever have made. */
const LONG_IN_USE = 90_000_000_000;

describeWithPostgres('a backup that is restored on a server which has made fewer transactions', () => {
  let postgres: Awaited<ReturnType<typeof startDebianPostgres>>;
  let from: TestDatabase;
  let to: TestDatabase;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-renumber-'));
    postgres = await startDebianPostgres();
    from = await createTestDatabase(postgres.url);
    to = await createTestDatabase(postgres.url);
  });
  after(async () => {
    await from.drop();
    await to.drop();
    await postgres.stop();
    await rm(folder, { recursive: true });
  });

  it('has what is recorded later after all that was recorded before, in the order of that', async () => {
    const { organizationId, runs } = await openAccount(from.db, 0, 3);
    const [executionId = '', callId = '', over = ''] = runs;
    const record = (db: Db, call: string, blockKey: string) =>
      settle(db, { organizationId }, { callId: call, blockKey, costMicrocredits: 0 });
    const later = { continues: executionId, status: 'completed' as const };
    await from.db.updateTable('run').set(later).where('execution_id', '=', callId).execute();
    for (const [call, key] of [
      [executionId, 'a'],
      [callId, 'b'],
      [executionId, 'c'],
      [over, 'a'],
    ] as const)
      await record(from.db, call, key);
    await from.db.updateTable('run').set({ status: 'failed' }).where('execution_id', '=', over).execute();
    await showAttempt(from.db, { ...BLOCK, callId: executionId, blockKey: 'd' });
    for (const table of ['block_run', 'block_under_way'])
      await sql`update ${sql.table(table)} set recorded = (recorded::text::bigint + ${LONG_IN_USE})::text::xid8`.execute(
        from.db,
      );
    // By their times alone, they would be in another order.
    await sql`update block_run set finished_at = '2026-01-01' where block_key = 'c'`.execute(from.db);

    const file = path.join(folder, 'weir.dump');
    await writeBackup(from.url, file);
    await to.db.destroy();
    await restoreBackup(to.url, file, { replace: true });
    to.db = connect(to.url);

    const restored = await settledBlocks(to.db, executionId, 0n, 3);
    assert.deepEqual(
      restored.map(({ block_key }) => block_key),
      ['a', 'b', 'c'],
    );
    const numbers = restored.map(({ recorded }) => BigInt(recorded));
    assert.equal(new Set(numbers).size, 3, 'a reader who was cut off goes on after any of them');
    const after = numbers.at(-1) ?? 0n;
    const underWay = await to.db.selectFrom('block_under_way').select('recorded').executeTakeFirstOrThrow();
    const known = { executionId, after, underWay: BigInt(underWay.recorded) };
    assert.deepEqual(await findUpdatedRuns(to.db, [known]), []);
    await showAttempt(to.db, { ...BLOCK, callId: executionId, blockKey: 'd', attempts: 2 });
    await waitUntil(async () => (await findUpdatedRuns(to.db, [known])).length === 1);
    await record(to.db, executionId, 'd');
    const [block] = await settledBlocks(to.db, executionId, after, 1);
    assert.equal(block?.block_key, 'd');
    assert.equal((await listRecordedBlocks(to.db, over, 0n)).blocks.length, 1);
  });
});

const BLOCK = {
  stepId: 'd',
  name: 'd',
  processorType: 'code',
  input: { ref: '$message' },
  attempts: 1,
  // Long ago: what runs elsewhere on the server does not withhold it.
  startedAt: performance.now() - 60_000,
} as const;

/** Lists the blocks once there are `count`: what runs elsewhere on the server may hold them up for some seconds. */
async function settledBlocks(db: Db, executionId: string, after: bigint, count: number) {
  const list = async () => (await listRecordedBlocks(db, executionId, after)).blocks;
  await waitUntil(async () => (await list()).length >= count);
  return list();
}
