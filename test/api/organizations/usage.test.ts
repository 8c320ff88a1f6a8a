// What was used, over HTTP. What counts as what is in test/db/usage/.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertFlow } from '../../../db/flows/flows.ts';
import { getVersion, publishVersion } from '../../../db/flows/versions.ts';
import { insertCalls } from '../../../db/runs/insert-calls.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { findUsage } from '../../../db/usage/find-usage.ts';
import { settle } from '../../db/credits/ledger-fixture.ts';
import { auditUsage } from '../../db/usage/audit-usage.ts';
import { startWeir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { waitUntil } from '../../wait-until.ts';
import { code, useManagement } from './management-harness.ts';

const today = () => new Date().toISOString().slice(0, 10);

describe('usage over HTTP', () => {
  const { management, call } = useManagement();
  const ofProject = (query = '') => `/projects/${management.acme.projectId}/usage${query}`;
  const ofOrganization = (query = '') => `/organizations/${management.acme.organizationId}/usage${query}`;

  /** A run with one model call, which has completed; counted unless `counts` is false. */
  async function run({ flowId = management.acme.flowId, cost = 1_000_000, counts = true } = {}) {
    const { weir, acme } = management;
    const { organizationId, projectId, keyId } = acme;
    const { id: flowVersionId } = await getVersion(weir.db, flowId, 1);
    const callId = randomUUID();
    const ids = { callId, organizationId, projectId, flowId, flowVersionId, keyId };
    const input = { message: '', parameters: {}, block_overrides: {} };
    await insertCalls(weir.db, [{ ...ids, mode: 'jobs', environment: 'live', input }]);
    const block = { callId, blockKey: 'ask', costMicrocredits: cost, model: 'demo/chat', promptTokens: 7 };
    await settle(weir.db, acme, block);
    await finishRun(weir.db, callId, { status: 'completed', result: { ref: 'ask' } });
    if (counts) await auditUsage(weir.db, organizationId);
  }
  async function addFlow(slug: string): Promise<string> {
    const flow = { projectId: management.acme.projectId, slug, name: slug };
    const { id } = await insertFlow(management.weir.db, flow);
    await publishVersion(management.weir.db, id, 'The first');
    return id;
  }

  it('is a sum over the last 30 days, and one of each day, project, flow, version, model and key', async () => {
    await run();
    await run();
    const { projectId, flowId, keyId } = management.acme;
    const named: { [by: string]: object } = {
      project: { projectId, name: 'project' },
      flow: { flowId, name: 'flow', project: 'project', refused: null },
      version: { flowId, version: 1, name: 'flow', project: 'project', refused: null },
      model: {
        model: 'demo/chat',
        refused: null,
        runs: null,
        failedRuns: null,
        cancelledRuns: null,
        refusedRuns: null,
        runLatencyMs: null,
      },
      key: { keyId, name: 'test', project: 'project' },
    };
    for (const path of [ofProject(), ofOrganization()])
      for (const [by, name] of Object.entries(named)) {
        const { status, body } = await call('GET', `${path}?by=${by}`);
        assert.equal(status, 200, JSON.stringify(body));
        const { total } = body;
        assert.deepEqual(body.entries, [{ ...total, ...name }]);
        assert.deepEqual([total.credits, total.runs, total.modelCalls, total.promptTokens], [2, 2, 2, 14]);
        assert.ok(total.runLatencyMs.p50 <= total.runLatencyMs.p99);
        assert.equal(Date.parse(body.to) - Date.parse(body.from), 29 * 86_400_000);
      }
    const { entries } = (await call('GET', ofProject())).body;
    assert.equal(
      entries.reduce((sum: number, { runs }: { runs: number }) => sum + runs, 0),
      2,
    );
    assert.match(entries[0].day, /^\d{4}-\d\d-\d\d$/);
  });

  it('of nothing is zero', async () => {
    const { total, entries, hasMore, nextCursor } = (await call('GET', ofProject())).body;
    assert.deepEqual([entries, hasMore, nextCursor], [[], false, null]);
    assert.deepEqual([total.credits, total.runs, total.refused, total.runLatencyMs], [0, 0, 0, null]);
  });

  it('is that of the days asked for, both included', async () => {
    await run();
    const runs = async (from: string, to: string) =>
      (await call('GET', ofProject(`?from=${from}&to=${to}`))).body.total.runs;
    const [from, to] = [new Date(Date.now() - 86_400_000).toISOString().slice(0, 10), today()];
    assert.equal(await runs(from, to), 1);
    assert.equal(await runs('2020-01-01', '2020-12-31'), 0);
  });

  it('is that of a flow or a project alone where it is asked for, and comes page by page', async () => {
    const second = await addFlow('second');
    await run({ cost: 3_000_000 });
    await run({ flowId: second, cost: 5_000_000 });
    const credits = async (path: string) => (await call('GET', path)).body.total.credits;
    assert.equal(await credits(ofProject(`?flow_id=${second}`)), 5);
    const ofSecond = (await call('GET', ofProject(`?flow_id=${second}`))).body;
    assert.deepEqual([ofSecond.total.refused, ofSecond.entries[0].refused], [null, null]);
    assert.equal(await credits(ofOrganization(`?project_id=${management.acme.projectId}`)), 8);
    assert.equal(await credits(ofOrganization(`?project_id=${randomUUID()}`)), 0);
    const first = (await call('GET', ofOrganization('?by=flow&limit=1'))).body;
    assert.deepEqual([first.entries[0].name, first.hasMore, first.nextCursor], ['second', true, '1']);
    const next = (await call('GET', ofOrganization('?by=flow&limit=1&cursor=1'))).body;
    assert.deepEqual([next.entries[0].name, next.hasMore, next.nextCursor], ['flow', false, null]);
    assert.deepEqual(next.total, first.total);
  });

  it('answers 304 until something is used', async () => {
    await run();
    const get = (etag: string) =>
      management.weir.call('GET', ofProject(), {
        key: management.acme.token.member,
        headers: { 'if-none-match': etag },
      });
    const etag = (await get('')).headers.get('etag') ?? '';
    const same = await get(etag);
    assert.deepEqual([same.status, same.body], [304, undefined]);
    await run();
    assert.equal((await get(etag)).status, 200);
  });

  it('of another project is not told to an API key, and that of its own is if it may read', async () => {
    const { weir, acme } = management;
    const other = await weir.createTenant();
    const { key } = await createScopedKey(weir, acme.projectId, 'read');
    assert.equal((await weir.call('GET', ofProject(), { key })).status, 200);
    assert.equal((await weir.call('GET', `/projects/${other.projectId}/usage`, { key })).status, 404);
    assert.equal((await weir.call('GET', ofOrganization(), { key })).status, 401);
  });

  for (const query of [
    'by=hour',
    'from=2026-02-30',
    'from=2026-01-01T00:00:00Z',
    'from=2026-02-01&to=2026-01-01',
    'from=2024-01-01&to=2025-01-01',
    'from=0000-01-01&to=0000-01-02',
    'to=0001-01-01',
    'flow_id=x',
    'project_id=x',
    'limit=201',
    'cursor=x',
    'x=1',
  ])
    it(`refuses ?${query} with 422`, async () => {
      assert.deepEqual(code(await call('GET', ofOrganization(`?${query}`))), [422, 'VALIDATION_ERROR']);
    });
});

describe('requests over a rate limit', () => {
  it('are in the usage of their project and key, on the day', async () => {
    const limits = { WEIR_RATE_LIMIT_PER_KEY: '1' };
    const weir = await startWeir({ worker: false, env: limits });
    try {
      const { key, organizationId, projectId } = await weir.createTenant();
      const statuses: number[] = [];
      for (let request = 0; request < 4; request += 1)
        statuses.push((await weir.call('GET', 'a/b/c/runs', { key })).status);
      const refused = statuses.filter((status) => status === 429).length;
      assert.ok(refused > 0);
      const filter = { organizationId, projectId, from: '2000-01-01', to: '9999-12-31' };
      const sums = await waitUntil(async () => {
        const { total, rows } = await findUsage(weir.db, filter, { by: 'flow', offset: 0, limit: 1 });
        assert.deepEqual(rows, []);
        return total.refused === refused && total;
      });
      assert.deepEqual([sums.runs, sums.microcredits], [0, 0]);
    } finally {
      await weir.stop();
    }
  });
});
