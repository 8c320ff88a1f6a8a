import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { publishVersion } from '../../../db/flows/versions.ts';
import { listTestRuns } from '../../../db/test-runs/test-runs.ts';
import { countRowsRead } from '../count-rows-read.ts';
import { createFlow } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const RUNS = 20;
const CASES = 200;

describe('a list of test runs', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('reads each result once', async () => {
    const { db } = database;
    const { id: flowId } = await createFlow(db);
    await publishVersion(db, flowId, '');
    await sql`insert into test_run (id, flow_id, flow_version_id, started_at)
      select gen_random_uuid(), flow_id, id, now() - make_interval(secs => n)
      from flow_version, generate_series(1, ${RUNS}) as n where flow_id = ${flowId}`.execute(db);
    // A result belongs to its run, which this list does not need.
    await sql`alter table test_result drop constraint if exists test_result_execution_id_fkey`.execute(db);
    await sql`insert into test_result (execution_id, test_run_id, "position", test_case_id, name, input, expectation, status)
      select gen_random_uuid(), id, n, gen_random_uuid(), 'case', '{}', '{}',
        (array['passed', 'failed', 'error', 'pending'])[n % 4 + 1]
      from test_run, generate_series(1, ${CASES}) as n`.execute(db);
    await sql`analyze test_run, test_result`.execute(db);
    const read = await countRowsRead(database.url, async (counted) => {
      const rows = await listTestRuns(counted, flowId, { limit: RUNS });
      assert.equal(rows.length, RUNS);
      for (const { total, passed, failed, errors, pending } of rows)
        assert.deepEqual([total, passed, failed, errors, pending], [CASES, 50, 50, 50, 50]);
    });
    assert.ok(read < 3 * RUNS * CASES, `${read} rows read`);
  });
});
