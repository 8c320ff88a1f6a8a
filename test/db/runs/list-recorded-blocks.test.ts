import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { sql } from 'kysely';
import type { Db } from '../../../db/connect.ts';
import { recordBlockRun } from '../../../db/runs/block-runs.ts';
import { listRecordedBlocks } from '../../../db/runs/recorded-blocks.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { CANCELLED } from '../../../flow/run.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('the recorded blocks of a run', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are withheld while an earlier one is not visible yet, so that no reader misses it', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 1);
    const [executionId = ''] = runs;
    const record = (by: Db, blockKey: string) =>
      recordBlockRun(
        by,
        { organizationId },
        { ...BLOCK, callId: executionId, blockKey, startedAt: performance.now() },
      );
    /** Looks as a reader does until there are `count`: what runs elsewhere on the server may hold them up. */
    const read = async (after: bigint, count: number) => {
      const seen: { key: string; recorded: bigint }[] = [];
      while (seen.length < count) {
        const { blocks } = await listRecordedBlocks(db, executionId, seen.at(-1)?.recorded ?? after);
        seen.push(...blocks.map((block) => ({ key: block.block_key, recorded: BigInt(block.recorded) })));
      }
      return seen;
    };
    await record(db, 'a');
    const [first] = await read(0n, 1);
    assert(first);
    await db.transaction().execute(async (tx) => {
      await sql`select pg_current_xact_id()`.execute(tx);
      await record(db, 'late');
      // A block that ended long ago is never withheld; this one has only just ended, however slow the machine is.
      await db
        .updateTable('block_run')
        .set({ finished_at: new Date(Date.now() + 3_600_000) })
        .where('block_key', '=', 'late')
        .execute();
      assert.deepEqual((await listRecordedBlocks(db, executionId, first.recorded)).blocks, []);
      await record(tx, 'early');
    });
    const after = await read(first.recorded, 2);
    assert.deepEqual(
      after.map(({ key }) => key),
      ['early', 'late'],
    );
  });

  it('are listed some at a time, all those of the same number together', async () => {
    const { db } = database;
    const { runs } = await openAccount(db, 0, 1);
    const [executionId = ''] = runs;
    /** Records blocks that ended long ago; of the restored ones, all have the number 500. */
    const record = (count: number, recorded: string) =>
      sql`insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, latency_ms, attempts,
          started_at, finished_at, recorded)
        select ${executionId}, ${recorded} || i, 'a', 'a', 'passthrough', 'completed', '{"ref":"$message"}', 1, 1,
          to_timestamp(i), to_timestamp(i), ${sql.raw(recorded)} from generate_series(1, ${count}) i`.execute(
        db,
      );
    await record(260, 'i::text::xid8');
    await record(300, "'500'::xid8");
    const list = (after: bigint) => listRecordedBlocks(db, executionId, after);
    const first = await list(0n);
    assert.deepEqual(
      first.blocks.map(({ recorded }) => Number(recorded)),
      Array.from({ length: 250 }, (_, index) => index + 1),
    );
    const { blocks, isFull } = await list(250n);
    assert.deepEqual([first.isFull, blocks.length, isFull], [true, 310, true]);
    const last = await list(500n);
    assert.deepEqual([last.blocks, last.isFull, last.status], [[], false, 'started']);
  });

  it('and the run end by the clock of the database, on which readers wait for them, however wrong that of the worker is', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 2);
    const [failing = '', completing = ''] = runs;
    const before = new Date();
    const payer = { organizationId };
    mock.timers.enable({ apis: ['Date'], now: before.getTime() - 3_600_000 });
    try {
      const block = { ...BLOCK, blockKey: 'a', startedAt: performance.now() };
      await recordBlockRun(db, payer, { ...block, callId: failing });
      await finishRun(db, failing, { status: 'failed', error: CANCELLED });
      await recordBlockRun(db, payer, { ...block, callId: completing }, { ref: 'a', bytes: 1 });
    } finally {
      mock.timers.reset();
    }
    for (const callId of runs) {
      const ofCall = (table: 'run' | 'block_run') =>
        db.selectFrom(table).selectAll().where('execution_id', '=', callId).executeTakeFirstOrThrow();
      for (const table of ['run', 'block_run'] as const) {
        const { finished_at: at } = await ofCall(table);
        assert.ok(at && at >= before && at <= new Date(), `${table}: ${at?.toISOString()}`);
      }
    }
  });
});

const BLOCK = {
  stepId: 'a',
  name: 'a',
  processorType: 'passthrough',
  input: { ref: '$message' },
  output: '1',
  attempts: 1,
} as const;
