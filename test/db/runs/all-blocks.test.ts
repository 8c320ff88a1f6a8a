import assert from 'node:assert/strict';
import { listAllBlocks, showAttempt } from '../../../db/runs/blocks-under-way.ts';
import { openAccount, settle } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const READS = 300;

describe('the blocks of a run', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are each either recorded or under way, whenever one ends between two reads', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 1);
    const [callId = ''] = runs;
    const block = { callId, blockKey: 'ask', costMicrocredits: 0 };
    const startedAt = performance.now();
    const input = { ref: 'message' } as const;
    const shown = {
      stepId: 'ask',
      name: 'ask',
      processorType: 'llm',
      input,
      attempts: 1,
      startedAt,
    } as const;
    await showAttempt(db, { ...block, ...shown });
    const seen = new Set<string>();
    let isOver = false;
    async function endAgainAndAgain() {
      while (!isOver) {
        await settle(db, { organizationId }, block);
        await db.deleteFrom('block_run').where('execution_id', '=', callId).execute();
      }
    }
    const ending = endAgainAndAgain();
    for (let count = 0; count < READS; count += 1) {
      const { blocks, underWay } = await listAllBlocks(db, callId);
      const keys = [...blocks, ...underWay].map(({ block_key }) => block_key);
      assert.deepEqual(keys, ['ask'], `in ${blocks.length} and ${underWay.length}`);
      for (const { started_at } of underWay) assert.ok(started_at.getTime() <= Date.now() + 1_000);
      seen.add(blocks.length > 0 ? 'recorded' : 'under way');
    }
    isOver = true;
    await ending;
    assert.equal(seen.size, 2);
  });
});
