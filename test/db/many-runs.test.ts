import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/connect.ts';
import { listLedger } from '../../db/credits/ledger.ts';
import { releaseLeftReservations } from '../../db/credits/reservations.ts';
import { insertFlow } from '../../db/flows/flows.ts';
import { publishVersion } from '../../db/flows/versions.ts';
import { countRunsByHour, listErrorGroups } from '../../db/runs/error-groups.ts';
import { findLastModelCalls } from '../../db/runs/find-last-model-calls.ts';
import { deleteExpiredKeys } from '../../db/runs/idempotency-keys.ts';
import { listCalls } from '../../db/runs/list-calls.ts';
import {
  type ListedRun,
  LOOKED_THROUGH_MAX,
  listRunPage,
  listRunsById,
  SEARCHED_MAX,
} from '../../db/runs/list-runs.ts';
import { findRun } from '../../db/runs/runs.ts';
import { RUN_MODES, RUN_OUTCOMES, RUN_STATUSES } from '../../db/schema.ts';
import { listAuditEntries } from '../../db/tenants/audit-entries.ts';
import { insertProject } from '../../db/tenants/projects.ts';
import { cancelLeft } from '../../db/upkeep/cancel-of-deleted.ts';
import { deleteOld } from '../../db/upkeep/delete-old.ts';
import { listUnfinished } from '../../db/upkeep/list-unfinished.ts';
import { countUsage } from '../../db/usage/count-usage.ts';
import { findUsage } from '../../db/usage/find-usage.ts';
import { USAGE_DIMENSIONS } from '../../db/usage/usage-dimensions.ts';
import { listDeliveries } from '../../db/webhooks/deliveries.ts';
import { claimStalledDeliveries } from '../../db/webhooks/open-deliveries.ts';
import { countRowsRead } from './count-rows-read.ts';
import { createProject } from './project-fixture.ts';
import { seedRuns } from './seed-runs.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

const RUNS = 20_000;
/** A walk over all runs of the busy flow would read 12,000. */
const READ_MAX = 1_500;
/** A page for which up to 500 runs of each kind, their calls and their blocks are looked through. */
const LOOKED_THROUGH_READ_MAX = 5_500;
const LIMIT = 51;
const DAY_MS = 24 * 60 * 60 * 1000;

describe('with many runs', () => {
  let database: TestDatabase;
  let organizationId: string;
  let projectId: string;
  let emptyProjectId: string;
  let flowId: string;
  let oldest: string;
  let errorGroup: string;
  before(async () => {
    database = await createTestDatabase();
    for (const slug of ['busy', 'other']) {
      const { organization, project } = await createProject(database.db);
      for (const name of [slug, `${slug}-too`]) {
        const flow = await insertFlow(database.db, { projectId: project.id, slug: name, name });
        await publishVersion(database.db, flow.id, '');
        await publishVersion(database.db, flow.id, '');
        if (name === 'busy') [organizationId, projectId, flowId] = [organization.id, project.id, flow.id];
      }
    }
    emptyProjectId = (await insertProject(database.db, { organizationId, slug: 'empty', name: 'Empty' })).id;
    await seedRuns(database.db, { count: RUNS, busyFlowId: flowId });
    const { execution_id } = await database.db
      .selectFrom('run')
      .select('execution_id')
      .where('flow_id', '=', flowId)
      .where('continues', 'is', null)
      .orderBy('started_at')
      .limit(1)
      .executeTakeFirstOrThrow();
    oldest = execution_id;
    errorGroup = (await listErrorGroups(database.db, { projectId, limit: 1 }))[0]?.error_group as string;
  });
  after(() => database.drop());

  const ago = (days: number) => new Date(Date.now() - days * DAY_MS);
  const month = { from: ago(31).toISOString().slice(0, 10), to: ago(-1).toISOString().slice(0, 10) };
  const filters = {
    'of a flow': {},
    ...Object.fromEntries(RUN_STATUSES.map((status) => [`with status ${status}`, { status }])),
    ...Object.fromEntries(RUN_MODES.map((mode) => [`with mode ${mode}`, { mode }])),
    ...Object.fromEntries(RUN_OUTCOMES.map((outcome) => [`with outcome ${outcome}`, { outcome }])),
    'with environment test': { environment: 'test' },
    'with environment live': { environment: 'live' },
    'of a version': { version: 1 },
    'of a version that has none': { version: 2, status: 'in_progress' },
    'of a version with status, mode and environment': {
      ...{ version: 1, status: 'failed', mode: 'jobs', environment: 'test' },
    },
    'since a time': { since: ago(-1) },
    'until a time': { until: ago(29.9) },
    'between two times': { since: ago(16), until: ago(15), environment: 'test' },
    'of a key': { key: 'busyKey0' },
    'of a rare key': { key: 'rareKey0' },
    'of a key with a status': { key: 'rareKey0', status: 'failed' },
    'of a key, of a status that it has none of': { key: 'busyKey0', status: 'tool_calls_required' },
  } as { [name: string]: Omit<Parameters<typeof listRunPage>[1], 'limit'> };

  const queries: { [name: string]: (db: Db) => Promise<unknown> } = {
    ...Object.fromEntries(
      Object.entries(filters).flatMap(([name, filter]) => [
        [`runs ${name}`, (db: Db) => listRunPage(db, { flowId, ...filter, limit: LIMIT - 1 })],
        [
          `runs ${name}, the last page`,
          (db: Db) => listRunPage(db, { flowId, ...filter, after: oldest, limit: LIMIT - 1 }),
        ],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(filters).flatMap(([name, filter]) => [
        [
          `runs of a project ${name}`,
          (db: Db) => listRunPage(db, { projectId, ...filter, limit: LIMIT - 1 }),
        ],
        [
          `runs of an organization ${name}, the last page`,
          (db: Db) => listRunPage(db, { organizationId, ...filter, after: oldest, limit: LIMIT - 1 }),
        ],
      ]),
    ),
    'runs of a project by the beginning of an id': (db) =>
      listRunPage(db, { projectId, id: oldest.slice(0, 8), status: 'failed', limit: LIMIT - 1 }),
    'the run after one': (db) => listRunPage(db, { projectId, after: oldest, order: 'oldest', limit: 1 }),
    'the failed run after one': (db) =>
      listRunPage(db, { flowId, after: oldest, status: 'failed', order: 'oldest', limit: 1 }),
    ...Object.fromEntries(
      [{}, { mode: 'step' }, { environment: 'test' }, { outcome: 'completed' }].map((filter) => [
        `runs of a group of errors with ${JSON.stringify(filter)}`,
        (db: Db) =>
          listRunPage(db, {
            projectId,
            error_group: errorGroup,
            ...(filter as object),
            after: oldest,
            limit: LIMIT - 1,
          }),
      ]),
    ),
    'the groups of errors of a project': (db) => listErrorGroups(db, { projectId, limit: LIMIT }),
    'the runs of each hour of a day': (db) =>
      countRunsByHour(db, { projectId, since: ago(15), until: ago(14) }),
    'runs of everybody': (db) => listRunPage(db, { limit: LIMIT - 1 }),
    'unfinished runs of an organization': (db) =>
      listRunPage(db, { organization: 'org-1', status: 'started', limit: LIMIT }),
    'one run': (db) => findRun(db, flowId, oldest),
    'the calls of a run': (db) => listCalls(db, oldest),
    'how the last model calls ended': (db) => findLastModelCalls(db),
    'deliveries of an organization': (db) => listDeliveries(db, { organizationId, limit: LIMIT }),
    'the last deliveries of an organization': (db) =>
      listDeliveries(db, { organizationId, before: { createdAt: ago(30), seq: 0 }, limit: LIMIT }),
    'deliveries of a project that has none': (db) =>
      listDeliveries(db, { organizationId, projectId: emptyProjectId, limit: LIMIT }),
    'the last deliveries of a project': (db) =>
      listDeliveries(db, {
        ...{ organizationId, projectId },
        before: { createdAt: ago(30), seq: 0 },
        limit: LIMIT,
      }),
    'deliveries of an event that is rare': (db) =>
      listDeliveries(db, { organizationId, event: 'flow.failed', limit: LIMIT }),
    'the audit log of an organization': (db) => listAuditEntries(db, organizationId, { limit: LIMIT }),
    'the end of the audit log of an organization': (db) =>
      listAuditEntries(db, organizationId, { beforeUs: BigInt(ago(30).getTime()) * 1000n, limit: LIMIT }),
    'what an author who is rare has done': (db) =>
      listAuditEntries(db, organizationId, { actor: 'user-2', limit: LIMIT }),
    'where something rare was done': (db) =>
      listAuditEntries(db, organizationId, { action: 'api_key.revoke', limit: LIMIT }),
    'the last page of a ledger': (db) => listLedger(db, organizationId, { until: ago(29.9), limit: LIMIT }),
    'the grants of a ledger': (db) => listLedger(db, organizationId, { kind: 'grant', limit: LIMIT }),
    'what a run was charged': (db) => listLedger(db, organizationId, { executionId: oldest, limit: LIMIT }),
    ...Object.fromEntries(
      USAGE_DIMENSIONS.map((by) => [
        `usage by ${by}`,
        (db: Db) => findUsage(db, { organizationId, ...month }, { by, offset: 0, limit: LIMIT }),
      ]),
    ),
    'what is to be counted': (db) => countUsage(db, 500),
    'unfinished runs': (db) => listUnfinished(db, 'run', { quietSeconds: 30, limit: 500 }),
    'unfinished test runs': (db) => listUnfinished(db, 'test_run', { quietSeconds: 30, limit: 500 }),
    'stalled deliveries': (db) => claimStalledDeliveries(db, { againInSeconds: 60, limit: 500 }),
    'what deleted projects left': (db) => cancelLeft(db),
    'left reservations': (db) => releaseLeftReservations(db),
    'expired keys': (db) => deleteExpiredKeys(db, 2_000),
    'what is not old yet': (db) => deleteOld(db, 31, 50),
    'what is old': (db) => deleteOld(db, 29, 50),
  };

  for (const [name, query] of Object.entries(queries))
    it(`finding ${name} reads only a part of them`, async () => {
      const read = await countRowsRead(database.url, query);
      assert.ok(read <= READ_MAX, `${read} rows were read`);
    });

  const lookedThrough = {
    'by their cost': { minMicrocredits: 2_000 },
    'by their cost and status': { minMicrocredits: 2_000, status: 'failed' },
    'by key and version': { key: 'rareKey0', version: 1 },
  } as { [name: string]: Omit<Parameters<typeof listRunPage>[1], 'limit'> };
  for (const [name, filter] of Object.entries(lookedThrough)) {
    it(`finding a page of runs ${name} looks through a part of them`, async () => {
      const read = await countRowsRead(database.url, (db) =>
        listRunPage(db, { organizationId, ...filter, limit: 50 }),
      );
      assert.ok(read <= LOOKED_THROUGH_READ_MAX, `${read} rows were read`);
    });

    it(`pages of runs ${name} hold each once, also after pages that hold none`, async () => {
      const { minMicrocredits = 0, key, version, status } = filter;
      const all = await listAll('organization_id', organizationId);
      const expected = all.filter(
        (run) =>
          (key === undefined || run.key_id === key) &&
          (status === undefined || run.status === status) &&
          run.cost_microcredits >= minMicrocredits &&
          (version === undefined || run.version === version),
      );
      assert.ok(expected.length > 0);
      const found: ListedRun[] = [];
      let after: string | undefined;
      do {
        const { runs, next } = await listRunPage(database.db, {
          organizationId,
          ...filter,
          after,
          limit: 50,
        });
        found.push(...runs);
        after = next ?? undefined;
      } while (after !== undefined);
      const ids = (runs: ListedRun[]) => runs.map((run) => run.execution_id).join();
      assert.equal(ids(found), ids(expected));
    });
  }

  it('a search looks through a part of them for one page', async () => {
    const searched = { projectId, search: 'no such text', limit: LIMIT };
    const read = await countRowsRead(database.url, (db) => listRunPage(db, searched));
    const most = (LOOKED_THROUGH_READ_MAX * SEARCHED_MAX) / LOOKED_THROUGH_MAX;
    assert.ok(read <= most, `${read} rows were read`);
    const { runs, next } = await listRunPage(database.db, searched);
    assert.deepEqual(runs, []);
    assert.ok(next);
  });

  const list = async (filter: Parameters<typeof listRunPage>[1]) =>
    (await listRunPage(database.db, filter)).runs;
  /** Lists all runs of the flow or organization, however many, newest first. */
  async function listAll(column: 'flow_id' | 'organization_id', id: string): Promise<ListedRun[]> {
    const runs = database.db.selectFrom('run').select('execution_id').where(column, '=', id);
    const ids = (await runs.execute()).map((run) => run.execution_id);
    return listRunsById(database.db, ids);
  }

  it('a list by the beginning of an id finds the runs whose ids begin so, of its scope alone', async () => {
    const ids = async (filter: object) =>
      (await list({ ...filter, limit: LIMIT })).map((run) => run.execution_id);
    const [run = ''] = await ids({ flowId });
    for (const length of [6, 8, 9, 13, 36]) {
      const found = await ids({ projectId, id: run.slice(0, length).toUpperCase() });
      assert.ok(found.includes(run), `${run.slice(0, length)}: ${found}`);
    }
    const other = run.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    assert.deepEqual(await ids({ projectId, id: other }), []);
    assert.deepEqual(await ids({ projectId: randomUUID(), id: run }), []);
    assert.deepEqual(await ids({ projectId, id: '12345-' }), []);
  });

  it('filters find what a walk over all runs finds', async () => {
    const all = await listAll('flow_id', flowId);
    assert.ok(all.length > RUNS / 2);
    for (const [name, { outcome, status, mode, environment, version, key, since, until }] of Object.entries(
      filters,
    )) {
      const expected = all.filter(
        (run) =>
          (status === undefined || run.status === status) &&
          (outcome === undefined || (run.outcome === outcome && run.status !== 'started')) &&
          (mode === undefined || run.mode === mode) &&
          (environment === undefined || run.environment === environment) &&
          (version === undefined || run.version === version) &&
          (since === undefined || run.started_at >= since) &&
          (until === undefined || run.started_at < until) &&
          (key === undefined || run.key_id === key),
      );
      const filter = { flowId, ...filters[name] };
      const ids = (runs: { execution_id: string }[]) => runs.map((run) => run.execution_id);
      const page = await list({ ...filter, limit: LIMIT });
      assert.deepEqual(ids(page), ids(expected.slice(0, LIMIT)), name);
      const after = page.at(-1)?.execution_id ?? randomUUID();
      const next = await list({ ...filter, after, limit: LIMIT });
      assert.deepEqual(ids(next), ids(expected.slice(LIMIT, 2 * LIMIT)), `${name}, the next page`);
    }
  });
});
