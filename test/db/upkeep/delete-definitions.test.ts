import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../../../db/connect.ts';
import { snapshotDraft } from '../../../db/flows/draft-snapshots.ts';
import { updateDraft } from '../../../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import { deleteDefinitions } from '../../../db/upkeep/delete-definitions.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { passthrough } from '../../blocks.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { duringTransaction } from '../during-transaction.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const DRAFT: FlowDefinition = { steps: [passthrough('a')] };
const LIMIT = 10;

describe('what a deleted flow had', () => {
  let database: TestDatabase;
  let db: Db;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  afterEach(() => database.drop());

  /** A flow with a run of version 1, a test run of a stored draft, a test case, and version 2 in production without a run. */
  async function createUsedFlow(): Promise<string> {
    const [run = ''] = (await openAccount(db, 0, 1)).runs;
    const { flow_id: id } = await db
      .selectFrom('run')
      .select('flow_id')
      .where('execution_id', '=', run)
      .executeTakeFirstOrThrow();
    await updateDraft(db, id, DRAFT);
    await setProductionVersion(db, id, await publishVersion(db, id, ''));
    await snapshotDraft(db, id, { steps: [passthrough('never-run')] });
    await sql`insert into test_run (id, flow_id, flow_version_id)
      values (${randomUUID()}, ${id}, ${await snapshotDraft(db, id, DRAFT)})`.execute(db);
    await sql`insert into test_case (flow_id, name, input, expectation)
      values (${id}, 'case', '{}', '{}')`.execute(db);
    return id;
  }

  const remove = (id: string, minutesAgo = 11) =>
    sql`update flow set deleted_at = now() - ${minutesAgo} * interval '1 minute' where id = ${id}`.execute(
      db,
    );

  async function left(id: string) {
    const { rows } = await sql`select draft, production_version as production,
        array(select coalesce(version, 0) from flow_version where flow_id = flow.id order by version) as versions,
        (select count(*) from test_case where flow_id = flow.id) as cases
      from flow where id = ${id}`.execute(db);
    return rows[0];
  }

  it('is deleted but for the versions of its runs and test runs; other flows keep everything', async () => {
    const [deleted, kept] = [await createUsedFlow(), await createUsedFlow()];
    await remove(deleted);
    assert.equal(await deleteDefinitions(db, LIMIT), false);
    const nothing = { draft: { steps: [] }, production: null, cases: 0 };
    assert.deepEqual(await left(deleted), { ...nothing, versions: [1, 0] });
    assert.deepEqual(await left(kept), { draft: DRAFT, production: 2, versions: [1, 2, 0, 0], cases: 1 });
    await sql`delete from run; delete from test_run`.execute(db);
    await deleteDefinitions(db, LIMIT);
    assert.deepEqual(await left(deleted), { ...nothing, versions: [] });
  });

  it('stays for ten minutes, for requests that found the flow before', async () => {
    const id = await createUsedFlow();
    const before = await left(id);
    await remove(id, 9);
    assert.equal(await deleteDefinitions(db, LIMIT), false);
    assert.deepEqual(await left(id), before);
  });

  it('is deleted a limited number at once', async () => {
    const id = await createUsedFlow();
    await remove(id);
    let rounds = 1;
    while (await deleteDefinitions(db, 1)) rounds += 1;
    assert.deepEqual(rounds, 3);
    assert.deepEqual((await left(id)) as object, {
      draft: { steps: [] },
      production: null,
      versions: [1, 0],
      cases: 0,
    });
  });

  it('keeps a version that a run begins with at that moment', async () => {
    const id = await createUsedFlow();
    await remove(id);
    const begin = (tx: Tx) =>
      sql`insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input)
        select gen_random_uuid(), organization_id, project_id, run.flow_id, version.id, 'test', 'test', input
        from run join flow_version version on version.flow_id = run.flow_id and version.version = 2`.execute(
        tx,
      );
    await duringTransaction(db, begin, () => deleteDefinitions(db, LIMIT));
    assert.deepEqual(((await left(id)) as { versions: number[] }).versions, [1, 2, 0]);
  });
});
