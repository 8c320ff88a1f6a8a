import assert from 'node:assert/strict';
import { loadRunnableFlow } from '../../../api/calls/load-flow.ts';
import type { ApiDeps } from '../../../api/deps.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { getVersion, publishVersion } from '../../../db/flows/versions.ts';
import { createLargeWork } from '../../../fairness/large-work.ts';
import { createOwnerLimit } from '../../../fairness/owner-limit.ts';
import { createPresence } from '../../../fairness/presence.ts';
import { createProject } from '../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { waitUntil } from '../../wait-until.ts';

describe('the versions that requests run', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are loaded two at a time for one organization, so that those that wait hold no memory', async () => {
    const { db } = database;
    const loading: ((definition: { steps: [] }) => void)[] = [];
    const definitions = {
      get: () => new Promise((resolve) => loading.push(resolve)),
      peek: () => undefined,
    };
    const largeValues = { work: createLargeWork(createPresence()), flowLoads: createOwnerLimit(2) };
    const deps = { db, definitions, largeValues } as unknown as ApiDeps;
    async function load(versions: number) {
      const { organization, project } = await createProject(db);
      const flow = await insertFlow(db, { projectId: project.id, slug: 'flow', name: 'Flow' });
      for (let version = 0; version < versions; version++) await publishVersion(db, flow.id, '');
      const query = { organization: organization.slug, project: 'main', flow: 'flow' };
      return Array.from({ length: versions }, (_, index) =>
        loadRunnableFlow(deps, { ...query, within: { projectId: project.id }, version: index + 1 }),
      );
    }
    const many = await load(4);
    await waitUntil(() => loading.length === 2);
    const other = await load(1);
    await waitUntil(() => loading.length === 3);
    for (let loaded = 0; loaded < 5; loaded++) {
      await waitUntil(() => loading.length > loaded);
      loading[loaded]?.({ steps: [] });
    }
    const found = await Promise.all([...many, ...other]);
    assert.deepEqual(
      found.map((flow) => flow?.version),
      [1, 2, 3, 4, 1],
    );
  });

  it('are run without waiting for others that are loaded, once they are known', async () => {
    const { db } = database;
    const { organization, project } = await createProject(db);
    const flow = await insertFlow(db, { projectId: project.id, slug: 'flow', name: 'Flow' });
    for (let version = 0; version < 3; version++) await publishVersion(db, flow.id, '');
    const known = await getVersion(db, flow.id, 1);
    const cached = createFlowDefinitions(db);
    const loading: ((definition: { steps: [] }) => void)[] = [];
    const definitions = {
      get: (id: string) =>
        id === known.id ? cached.get(id) : new Promise((resolve) => loading.push(resolve)),
      peek: cached.peek,
    };
    const largeValues = { work: createLargeWork(createPresence()), flowLoads: createOwnerLimit(2) };
    const deps = { db, definitions, largeValues } as unknown as ApiDeps;
    const query = { organization: organization.slug, project: 'main', flow: 'flow' };
    const load = (version: number) =>
      loadRunnableFlow(deps, { ...query, within: { projectId: project.id }, version });
    await load(1);
    const others = [load(2), load(3)];
    await waitUntil(() => loading.length === 2);
    assert.equal((await load(1))?.version, 1);
    for (const loaded of loading) loaded({ steps: [] });
    await Promise.all(others);
  });
});
