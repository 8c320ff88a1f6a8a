import assert from 'node:assert/strict';
import { describeFlows } from '../../../api/mcp/project-tools.ts';
import { listFlowDesigns } from '../../../db/flows/flow-designs.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { createFairQueue } from '../../../platform/limits/fair-queue.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { passthrough } from '../../blocks.ts';
import { createProject } from '../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

const MIB = 1024 * 1024;

describe('the flows of a project, for an assistant,', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are read a few MiB at a time, each counted for its organization until it is dropped', async () => {
    const { db } = database;
    const { organization, project } = await createProject(db);
    await insertMember(db, { organizationId: organization.id, userId: 'ada', role: 'owner' });
    const sizes = [1.5 * MIB, MIB, 10, 0.5 * MIB];
    for (const [index, size] of sizes.entries())
      await insertFlow(db, {
        ...{ projectId: project.id, slug: `flow-${index}`, name: 'Flow' },
        definition: { steps: [passthrough('a', { prompt: 'x'.repeat(size) })] },
      });
    const flows = await listFlowDesigns(db, 'ada', project.id, { after: '', limit: 10 });
    const reserved: string[] = [];
    const gate = createFairQueue({ capacity: Infinity });
    const acquire: typeof gate.acquire = async (key, request) => {
      assert.deepEqual([key, gate.count().weight], [organization.id, 0]);
      reserved.push(`${((request?.weight ?? 0) / MIB).toFixed(1)} MiB`);
      return gate.acquire(key, request);
    };
    const answers = { ...gate, acquire };
    const config = { mcp: { url: 'http://127.0.0.1/mcp' }, providers: {}, ownKeyProviders: {} };
    const deps = { db, config, registry: createRegistry(), gates: { answers } } as never;
    const described = await describeFlows(deps, flows, { textMax: 1_000, allMax: 1_500 });
    assert.deepEqual(reserved, ['1.5 MiB', '1.5 MiB']);
    assert.equal(gate.count().weight, 0);
    assert.deepEqual(
      described.map(({ slug, steps }) => [slug, steps !== null]),
      [
        ['flow-0', true],
        ['flow-1', false],
        ['flow-2', false],
        ['flow-3', false],
      ],
    );
  });
});
