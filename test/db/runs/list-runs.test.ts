import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertFlow } from '../../../db/flows/flows.ts';
import { getVersion, publishVersion } from '../../../db/flows/versions.ts';
import { listRunPage } from '../../../db/runs/list-runs.ts';
import { createProject } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('runs', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const list = async (filter: Parameters<typeof listRunPage>[1]) =>
    (await listRunPage(database.db, filter)).runs;

  it('are listed newest first, by organization, project, flow and status, with their cost', async () => {
    const { organization, project } = await createProject(database.db);
    const flow = await insertFlow(database.db, { projectId: project.id, slug: 'listed', name: 'Listed' });
    await publishVersion(database.db, flow.id, '');
    const { id: flowVersionId } = await getVersion(database.db, flow.id, 1);
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const [index, executionId] of ids.entries())
      await database.db
        .insertInto('run')
        .values({
          execution_id: executionId,
          organization_id: organization.id,
          project_id: project.id,
          flow_id: flow.id,
          flow_version_id: flowVersionId,
          mode: 'jobs',
          environment: 'live',
          status: index === 1 ? 'completed' : 'started',
          input: JSON.stringify({ message: 'hi', parameters: {}, block_overrides: {} }),
          started_at: new Date(Date.UTC(2026, 0, 1 + index)),
        })
        .execute();
    for (const block of ['a', 'b'])
      await database.db
        .insertInto('block_run')
        .values({
          execution_id: ids[1] as string,
          block_key: block,
          step_id: block,
          name: block,
          processor_type: 'llm',
          status: 'completed',
          input: '{"ref":"$message"}',
          cost_microcredits: 21,
          latency_ms: 1,
          attempts: 1,
          started_at: new Date(),
          finished_at: new Date(),
        })
        .execute();
    const filter = { organization: organization.slug, project: 'main', flow: 'listed' };
    const all = await list({ ...filter, limit: 10 });
    assert.deepEqual(
      all.map((run) => run.execution_id),
      [...ids].reverse(),
    );
    assert.equal((await list({ ...filter, limit: 2 })).length, 2);
    const [completed, ...rest] = await list({ ...filter, status: 'completed', limit: 10 });
    assert.equal(completed?.execution_id, ids[1]);
    assert.equal(completed?.cost_microcredits, 42);
    assert.deepEqual(rest, []);
    assert.deepEqual(await list({ ...filter, flow: 'other', limit: 10 }), []);
  });
});
