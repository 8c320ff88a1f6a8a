import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { showAttempt } from '../../../db/runs/blocks-under-way.ts';
import { findUpdatedRuns } from '../../../db/runs/find-updated-runs.ts';
import { listRecordedBlocks } from '../../../db/runs/recorded-blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { openAccount, settle } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('news of runs', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are a block that its follower does not know, the end, and that the run is gone', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 3);
    const [quiet = '', busy = '', ended = ''] = runs;
    const follow = (after: bigint) =>
      [quiet, busy, ended, randomUUID()].map((executionId) => ({ executionId, after }));
    assert.deepEqual(await findUpdatedRuns(db, follow(0n)), [3]);

    await settle(db, { organizationId }, { callId: busy, blockKey: 'ask', costMicrocredits: 0 });
    await db.updateTable('run').set({ status: 'completed' }).where('execution_id', '=', ended).execute();
    // What runs elsewhere on the server may withhold the block for some seconds.
    await waitUntil(async () => (await findUpdatedRuns(db, follow(0n))).includes(1));
    assert.deepEqual((await findUpdatedRuns(db, follow(0n))).sort(), [1, 2, 3]);

    const [block] = (await listRecordedBlocks(db, busy, 0n)).blocks;
    assert.deepEqual((await findUpdatedRuns(db, follow(BigInt(block?.recorded ?? 0)))).sort(), [2, 3]);
  });

  it('are blocks of the calls that carry a run on', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 2);
    const [executionId = '', callId = ''] = runs;
    await db.updateTable('run').set({ continues: executionId }).where('execution_id', '=', callId).execute();
    const followed = [{ executionId, after: 0n }];
    assert.deepEqual(await findUpdatedRuns(db, followed), []);
    await settle(db, { organizationId }, { callId, blockKey: 'ask', costMicrocredits: 0 });
    await waitUntil(async () => (await findUpdatedRuns(db, followed)).length === 1);
  });

  it('are a block under way, and not one that its worker left behind', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 3);
    const [executionId = '', call = '', endedCall = ''] = runs;
    const continues = { continues: executionId };
    await db.updateTable('run').set(continues).where('execution_id', 'in', [call, endedCall]).execute();
    const show = (callId: string, blockKey: string) =>
      showAttempt(db, {
        callId,
        blockKey,
        stepId: blockKey,
        name: blockKey,
        processorType: 'code',
        input: { ref: '$message' },
        attempts: 1,
        // Long ago: what runs elsewhere on the server does not withhold it.
        startedAt: performance.now() - 60_000,
      });
    const isNews = async () => {
      const { blocks } = await listRecordedBlocks(db, executionId, 0n);
      const after = BigInt(blocks.at(-1)?.recorded ?? 0);
      return (await findUpdatedRuns(db, [{ executionId, after, underWay: 0n }])).length === 1;
    };
    for (const callId of [executionId, call]) {
      await show(callId, 'ask');
      assert.ok(await isNews());
      await settle(db, { organizationId }, { callId, blockKey: 'ask', costMicrocredits: 0 });
      await waitUntil(async () => !(await isNews()));
    }
    await show(endedCall, 'ask');
    assert.ok(await isNews());
    await db.updateTable('run').set({ status: 'failed' }).where('execution_id', '=', endedCall).execute();
    // The block is recorded as cancelled.
    await waitUntil(async () => !(await isNews()));
  });
});
