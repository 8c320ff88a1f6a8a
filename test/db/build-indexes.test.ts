import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { buildIndexes } from '../../db/build-indexes.ts';
import { dumpSchema } from '../../db/dump-schema.ts';
import { listDeliveries } from '../../db/webhooks/deliveries.ts';
import { insertTestDelivery } from '../../db/webhooks/open-deliveries.ts';
import { waitUntil } from '../wait-until.ts';
import { openAccount } from './credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

describe('the indexes of large tables', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are built once when several processes begin at the same time, and replace others', async () => {
    const { db } = database;
    const schema = await dumpSchema(db);
    await sql`drop index run_newest`.execute(db);
    await sql`create index run_by_flow on run (flow_id)`.execute(db);
    await Promise.all([buildIndexes(db), buildIndexes(db), buildIndexes(db)]);
    assert.equal(await dumpSchema(db), schema);
  });

  it('are built again when their building was cut off', async () => {
    const { db } = database;
    const isValid = async () => {
      const { rows } = await sql<{ valid: boolean }>`
        select indisvalid as valid from pg_index where indexrelid = 'run_newest'::regclass`.execute(db);
      return rows[0]?.valid;
    };
    await sql`update pg_index set indisvalid = false where indexrelid = 'run_newest'::regclass`.execute(db);
    assert.equal(await isValid(), false);
    await buildIndexes(db);
    assert.equal(await isValid(), true);
  });

  it('are built while others write', async () => {
    const { db } = database;
    const write = sql`
      update run set status = 'failed' where execution_id = ${randomUUID()}`;
    await sql`drop index run_newest`.execute(db);
    let building: Promise<void> | undefined;
    await db.transaction().execute(async (tx) => {
      await write.execute(tx);
      building = buildIndexes(db);
      await waitUntil(async () => {
        const { rows } = await sql`
          select from pg_stat_activity
          where datname = current_database() and query like 'create index%' and wait_event_type = 'Lock'`.execute(
          db,
        );
        return rows.length === 1;
      });
      // Builders that locked the table would hold this up until they have it.
      await db.transaction().execute(async (other) => {
        await sql`set local lock_timeout = '5s'`.execute(other);
        await write.execute(other);
      });
    });
    await building;
  });

  it('of deliveries by project come after the projects of those that were made without', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 2);
    const callback = { callback_url: 'https://receiver.example/', callback_events: ['flow.failed' as const] };
    await db.updateTable('run').set(callback).where('execution_id', 'in', runs).execute();
    await db.updateTable('run').set({ status: 'failed' }).where('execution_id', 'in', runs).execute();
    const test = { id: randomUUID(), organizationId, event: 'flow.failed' as const, body: '{}' };
    await insertTestDelivery(db, { ...test, url: callback.callback_url });
    const { project_id: projectId } = await db
      .selectFrom('run')
      .select('project_id')
      .where('execution_id', '=', runs[0] ?? '')
      .executeTakeFirstOrThrow();
    const listOfProject = async () => {
      const deliveries = await listDeliveries(db, { organizationId, projectId, limit: 10 });
      return deliveries.map(({ execution_id }) => execution_id).sort();
    };
    assert.deepEqual(await listOfProject(), runs.toSorted());
    await db.updateTable('webhook_delivery').set({ project_id: null }).execute();
    await sql`drop index webhook_delivery_of_project`.execute(db);
    await buildIndexes(db);
    assert.deepEqual(await listOfProject(), runs.toSorted());
  });
});
