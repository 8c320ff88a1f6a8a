import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ApiDeps } from '../../../../api/deps.ts';
import { loadRunnableFlow } from '../../../../api/runs/calls/load-flow.ts';
import { createFlowDefinitions } from '../../../../db/flows/flow-definitions.ts';
import { insertFlow } from '../../../../db/flows/flows.ts';
import { getVersion, publishVersion } from '../../../../db/flows/versions.ts';
import { createFairQueue } from '../../../../platform/limits/fair-queue.ts';
import { createProject } from '../../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../../db/test-database.ts';
import { waitUntil } from '../../../wait-until.ts';

const MIB = 1024 * 1024;

/** Definitions of `capacity` MiB at a time, those of one organization of 2 MiB. A small definition counts as 1 MiB. */
function createLargeValues(capacity = 4) {
  const definitions = createFairQueue({ capacity: capacity * MIB, perKeyMax: 2 * MIB });
  return { definitions };
}

describe('the versions that requests run', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  afterEach(() => mock.restoreAll());

  it('are loaded up to a size for one organization, so that queued ones hold no memory', async () => {
    const { db } = database;
    const loading: ((definition: { steps: [] }) => void)[] = [];
    const definitions = {
      get: () => new Promise((resolve) => loading.push(resolve)),
      peek: () => undefined,
      measure: async () => 1,
    };
    const largeValues = createLargeValues();
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
      measure: async () => 1,
    };
    const largeValues = createLargeValues();
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

  it('wait for the large ones of other organizations where they are large, until their caller has gone', async () => {
    const { db } = database;
    const loading: ((definition: { steps: [] }) => void)[] = [];
    const definitions = {
      get: () => new Promise((resolve) => loading.push(resolve)),
      peek: () => undefined,
      measure: async () => 2 * MIB,
    };
    const deps = { db, definitions, largeValues: createLargeValues(2) } as unknown as ApiDeps;
    async function load(gone = new AbortController().signal) {
      const { organization, project } = await createProject(db);
      const flow = await insertFlow(db, { projectId: project.id, slug: 'flow', name: 'Flow' });
      await publishVersion(db, flow.id, '');
      const query = { organization: organization.slug, project: 'main', flow: 'flow', version: 1 };
      return { found: loadRunnableFlow(deps, { ...query, within: { projectId: project.id } }, () => gone) };
    }
    const first = await load();
    await waitUntil(() => loading.length === 1);
    const caller = new AbortController();
    const hungUp = await load(caller.signal);
    const third = await load();
    caller.abort();
    await assert.rejects(hungUp.found, { code: 'REQUEST_TIMEOUT' });
    assert.equal(loading.length, 1);
    loading[0]?.({ steps: [] });
    await first.found;
    await waitUntil(() => loading.length === 2);
    loading[1]?.({ steps: [] });
    assert.equal((await third.found)?.version, 1);
  });
});
