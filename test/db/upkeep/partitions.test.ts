import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { listBlocksOfCall } from '../../../db/runs/recorded-blocks.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { createTimedId, firstIdOf } from '../../../db/timed-id.ts';
import { deleteOld } from '../../../db/upkeep/delete-old.ts';
import { dropPartitions } from '../../../db/upkeep/drop-partitions.ts';
import { listPartitions, PARTITIONED_TABLES, type PartitionedTable } from '../../../db/upkeep/partitions.ts';
import { preparePartitions } from '../../../db/upkeep/prepare-partitions.ts';
import { type Account, openAccount, settle } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { watchStatements } from '../watch-statements.ts';

const DAYS = 8;
const DAY_MS = 24 * 60 * 60 * 1000;
const START = new Date('2026-03-10T15:00:00Z');
const at = (days: number) => new Date(START.getTime() + days * DAY_MS);
const BLOCKS = PARTITIONED_TABLES[0] as PartitionedTable;

describe('partitions by time', () => {
  let database: TestDatabase;
  let account: Account;
  beforeEach(async () => {
    database = await createTestDatabase();
    account = await openAccount(database.db, 100, 1);
  });
  afterEach(() => database.drop());

  /** Stores a run with a block; one that is over has been so for many days. */
  async function run(id: string, isOver = true): Promise<string> {
    const { db } = database;
    await sql`insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input)
      select ${id}, organization_id, project_id, flow_id, flow_version_id, mode, environment, input
      from run where execution_id = ${account.runs[0]}`.execute(db);
    await settle(db, account, { callId: id, blockKey: 'ask', costMicrocredits: 0 });
    if (!isOver) return id;
    await finishRun(db, id, { status: 'completed', result: { ref: 'ask' } });
    await sql`update run set started_at = ${START}, finished_at = ${START} where execution_id = ${id}`.execute(
      db,
    );
    return id;
  }
  const blocksOf = async (id: string) => (await listBlocksOfCall(database.db, id)).length;
  const partitionOf = async (id: string) => {
    const { rows } = await sql<{ name: string }>`
      select tableoid::regclass::text as name from block_run where execution_id = ${id}`.execute(database.db);
    return rows.map(({ name }) => name);
  };
  const names = async () => (await listPartitions(database.db, BLOCKS)).map(({ name }) => name);

  it('are made for the days to come, once, and take the rows whose ids begin with a time in them', async () => {
    const { db } = database;
    await preparePartitions(db, DAYS, START);
    const made = await names();
    assert.equal(made.length, 4);
    assert.equal(made[0], 'block_run_20260312_20260313');
    await preparePartitions(db, DAYS, at(1));
    assert.deepEqual(await names(), made);
    assert.deepEqual(await partitionOf(await run(createTimedId(at(1.3)))), ['block_run_default']);
    assert.deepEqual(await partitionOf(await run(createTimedId(at(1.4)))), ['block_run_20260312_20260313']);
    await preparePartitions(db, DAYS, at(4));
    assert.equal((await names()).at(-1), 'block_run_20260319_20260320');
  });

  it('are made, and dropped, by the clock of the database, not by those of workers', async () => {
    await database.db.connection().execute(async (db) => {
      const setClock = (to: Date) =>
        sql`create or replace function public.now() returns timestamptz language sql return ${sql.lit(to.toISOString())}::timestamptz`.execute(
          db,
        );
      await sql`set search_path = public, pg_catalog`.execute(db);
      await setClock(at(-1000));
      await preparePartitions(db, DAYS);
      const made = await names();
      assert.equal(made[0], 'block_run_20230616_20230617');
      assert.equal(await dropPartitions(db, DAYS), 0);
      await setClock(at(0));
      assert.ok((await dropPartitions(db, DAYS)) >= made.length);
    });
  });

  it('are made though a clock that was ahead has made later ones, and go on to these', async () => {
    const { db } = database;
    await preparePartitions(db, DAYS, at(100));
    const ahead = await names();
    await preparePartitions(db, DAYS, START);
    assert.deepEqual(await partitionOf(await run(createTimedId(at(1.4)))), ['block_run_20260312_20260313']);
    await preparePartitions(db, DAYS, at(97));
    assert.deepEqual((await names()).slice(4), [
      ...['block_run_20260617_20260618', 'block_run_20260618_20260619', 'block_run_20260619_20260620'],
      ...ahead,
    ]);
  });

  it('are dropped when their runs have been deleted; younger ones, and rows without a time, stay', async () => {
    const { db } = database;
    await preparePartitions(db, DAYS, START);
    const [first, second] = await names();
    const old = await run(createTimedId(at(1.5)));
    const young = await run(createTimedId(at(2.5)), false);
    const random = await run(randomUUID(), false);
    const now = at(DAYS + 2.5);
    await dropPartitions(db, DAYS, { now });
    assert.equal(await blocksOf(old), 1);
    await deleteOld(db, DAYS, 10);
    assert.equal(await dropPartitions(db, DAYS, { now }), 1);
    const left = await names();
    assert.ok(!left.includes(first as string));
    assert.ok(left.includes(second as string));
    assert.deepEqual([await blocksOf(old), await blocksOf(young), await blocksOf(random)], [0, 1, 1]);
  });

  it('that still have a run lose the blocks of all others', async () => {
    const { db } = database;
    await preparePartitions(db, DAYS, START);
    const [first] = await names();
    const old = await Promise.all([1.4, 1.5, 1.6, 1.7].map((day) => run(createTimedId(at(day)))));
    const underWay = await run(createTimedId(at(1.5)), false);
    await deleteOld(db, DAYS, 10);
    await dropPartitions(db, DAYS, { now: at(DAYS + 3.5) });
    assert.ok((await names()).includes(first as string));
    assert.deepEqual(await Promise.all([...old, underWay].map(blocksOf)), [0, 0, 0, 0, 1]);
  });

  it('take over the rows of ids that lie in them by chance, unless more rows may follow', async () => {
    const { db } = database;
    const ended = await run(firstIdOf(at(3)));
    const open = await run(firstIdOf(at(4)), false);
    await preparePartitions(db, DAYS, START);
    assert.equal((await names())[0], 'block_run_20260315_20260316');
    assert.deepEqual(await partitionOf(open), ['block_run_default']);
    await finishRun(db, open, {
      status: 'failed',
      error: { code: 'INTERNAL_ERROR', message: '', reason: 'error' },
    });
    await sql`drop table ${sql.join((await names()).map((name) => sql.table(name)))}`.execute(db);
    await preparePartitions(db, DAYS, START);
    assert.deepEqual(await partitionOf(ended), ['block_run_20260313_20260314']);
    assert.deepEqual(await partitionOf(open), ['block_run_20260314_20260315']);
  });

  it('are made to the end by the next worker when one was cut off', async () => {
    const { db } = database;
    const ended = await run(firstIdOf(at(3)));
    const cutOff = watchStatements(db, (node) => {
      if (JSON.stringify(node).includes('validate constraint')) throw new Error('cut off');
    });
    await assert.rejects(preparePartitions(cutOff, DAYS, START), /cut off/);
    await assert.rejects(run(createTimedId(at(4))), /block_run_default_range/);
    await preparePartitions(db, DAYS, at(5));
    assert.deepEqual(await partitionOf(ended), ['block_run_20260313_20260314']);
    assert.deepEqual(await partitionOf(await run(createTimedId(at(4)))), ['block_run_20260314_20260315']);
  });

  it('are neither made nor missed without retention', async () => {
    await preparePartitions(database.db, undefined, START);
    assert.deepEqual(await names(), []);
    assert.deepEqual(await partitionOf(await run(createTimedId(at(3)))), ['block_run_default']);
  });

  it('span more days where more days are kept', async () => {
    await preparePartitions(database.db, 365, START);
    assert.deepEqual((await names()).slice(0, 2), [
      'block_run_20260312_20260427',
      'block_run_20260427_20260612',
    ]);
  });
});
