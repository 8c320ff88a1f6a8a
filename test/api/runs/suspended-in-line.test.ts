import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import type { ApiContext, ApiMiddleware } from '../../../api/http/context.ts';
import { retryRunsRoutes } from '../../../api/runs/retry-runs.ts';
import { runAllTests } from '../../../api/test-cases/run-tests.ts';
import { endSuspension, suspendOrganization } from '../../../db/tenants/organizations.ts';
import type { FairQueue } from '../../../platform/limits/fair-queue.ts';
import { code } from '../../blocks.ts';
import { startTestsWeir, type TestsWeir } from '../test-cases/tests-harness.ts';

describe('while it is queued and its organization is suspended', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());
  afterEach(() => {
    mock.restoreAll();
    return tests.weir.db.transaction().execute((tx) => endSuspension(tx, tests.tenant.organizationId));
  });

  /** Lets requests in once the organization is suspended and two seconds are over. */
  function inLine(): typeof tests.deps {
    const { deps, tenant } = tests;
    const { runStarts } = deps.gates;
    const acquire: FairQueue['acquire'] = async (...asked) => {
      await tests.weir.db
        .transaction()
        .execute((tx) => suspendOrganization(tx, tenant.organizationId, 'runaway loop'));
      const permit = await runStarts.acquire(...asked);
      const later = performance.now() + 2_000;
      mock.method(performance, 'now', () => later);
      return permit;
    };
    return { ...deps, gates: { ...deps.gates, runStarts: { ...runStarts, acquire } } };
  }
  const refusal = { code: 'FORBIDDEN', message: /runaway loop/ };

  it('a test run is not stored', async () => {
    const { ada, weir } = tests;
    const flowId = await tests.draft([code('a', 'return 1;')]);
    await tests.testCase(flowId, { type: 'equals', value: 1 });
    await assert.rejects(runAllTests(inLine(), ada, flowId), refusal);
    const stored = weir.db.selectFrom('test_run').select('id').where('flow_id', '=', flowId);
    assert.deepEqual(await stored.execute(), []);
  });

  it('retrying many runs stores none', async () => {
    const { weir, tenant } = tests;
    const { key, projectId, organizationId } = tenant;
    const flow = await weir.createFlow(tenant, [code('a', 'throw new Error("no");')]);
    await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } });
    const [route] = retryRunsRoutes(inLine());
    const retryRuns = route?.handlers.at(-1) as ApiMiddleware;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const principal = { kind: 'user', userId: 'ada', environment: 'live', expiresAt };
    const project = { id: projectId, organization_id: organizationId };
    const membership = { organizationId, role: 'member' };
    const ctx = {
      state: {
        ...{ principal, project, membership, requestId: 'r', body: { limit: 10, on_version: 'original' } },
        authorizeAgain: async () => membership,
      },
      res: new EventEmitter(),
    };
    const refused = retryRuns(ctx as unknown as ApiContext, async () => undefined);
    await assert.rejects(refused, refusal);
    const runs = weir.db.selectFrom('run').where('organization_id', '=', organizationId);
    assert.equal((await runs.select('execution_id').execute()).length, 1);
  });
});
