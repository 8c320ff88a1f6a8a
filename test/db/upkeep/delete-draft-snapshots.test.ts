import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../../../db/connect.ts';
import { deleteDraftSnapshots } from '../../../db/upkeep/delete-definitions.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { duringTransaction } from '../during-transaction.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const DAYS = 30;

describe('retention of stored drafts', () => {
  let database: TestDatabase;
  let db: Db;
  let run: string;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    [run = ''] = (await openAccount(db, 0, 1)).runs;
  });
  afterEach(() => database.drop());

  const snapshot = async (days: number) => {
    const { rows } = await sql<{ id: string }>`
      insert into flow_version (flow_id, note, definition, digest, created_at)
      select flow_id, '', '{"steps":[]}', ${randomBytes(32)}, now() - ${days} * interval '1 day'
      from run where execution_id = ${run} returning id`.execute(db);
    return rows[0]?.id as string;
  };
  const runOf = (snapshotId: string, on: Db | Tx = db) =>
    sql`insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input)
      select ${randomUUID()}, organization_id, project_id, flow_id, ${snapshotId}, 'test', 'test', input
      from run where execution_id = ${run}`.execute(on);
  const left = async () =>
    (await db.selectFrom('flow_version').select('id').where('version', 'is', null).execute()).map(
      ({ id }) => id,
    );

  it('deletes old ones that nothing refers to, and keeps those of runs, of test runs, and young ones', async () => {
    const [ofRun, ofTestRun, young] = [
      await snapshot(DAYS + 1),
      await snapshot(DAYS + 1),
      await snapshot(DAYS - 1),
    ];
    await snapshot(DAYS + 1);
    await runOf(ofRun);
    await sql`insert into test_run (id, flow_id, flow_version_id)
      select ${randomUUID()}, flow_id, ${ofTestRun} from run where execution_id = ${run}`.execute(db);
    const published = db.selectFrom('flow_version').select('id').where('version', 'is not', null);
    const before = await published.execute();
    assert.equal(await deleteDraftSnapshots(db, DAYS, 10), 1);
    assert.deepEqual(new Set(await left()), new Set([ofRun, ofTestRun, young]));
    assert.deepEqual(await published.execute(), before);
  });

  it('keeps one that a run begins with at that moment', async () => {
    const old = await snapshot(DAYS + 1);
    const deleted = await duringTransaction(
      db,
      (tx) => runOf(old, tx),
      () => deleteDraftSnapshots(db, DAYS, 10),
    );
    assert.deepEqual([deleted, await left()], [0, [old]]);
  });

  it('deletes a limited number at once', async () => {
    for (let count = 0; count < 3; count += 1) await snapshot(DAYS + 1);
    assert.deepEqual([await deleteDraftSnapshots(db, DAYS, 2), (await left()).length], [2, 1]);
  });

  it('leaves published versions as they are: nothing deletes or changes them', async () => {
    for (const statement of [sql`delete from flow_version`, sql`update flow_version set note = 'x'`])
      await assert.rejects(statement.execute(db), /never changes/);
  });
});
