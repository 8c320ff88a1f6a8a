import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { listDeliveries } from '../../../db/webhooks/deliveries.ts';
import { countRowsRead } from '../count-rows-read.ts';
import { createProject } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('the deliveries of an organization', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('of a status that is rare are found without a walk over the others', async () => {
    const { organization } = await createProject(database.db);
    await sql`insert into webhook_delivery (id, organization_id, event_type, target_url, status, attempt, created_at, check_at)
      select gen_random_uuid(), ${organization.id}::uuid, 'flow.failed', 'https://receiver.example/',
        case n when 3000 then 'succeeded' when 2999 then 'failed_permanent' else 'dead_letter' end, 6,
        now() - make_interval(secs => n), now()
      from generate_series(1, 3000) as n`.execute(database.db);
    await sql`analyze webhook_delivery`.execute(database.db);
    for (const status of ['succeeded', 'failed_permanent'] as const) {
      const read = await countRowsRead(database.url, async (db) => {
        const rows = await listDeliveries(db, { organizationId: organization.id, status, limit: 51 });
        assert.deepEqual(
          rows.map((row) => row.status),
          [status],
        );
      });
      assert.ok(read < 100, `${status}: ${read} rows read`);
    }
  });
});
