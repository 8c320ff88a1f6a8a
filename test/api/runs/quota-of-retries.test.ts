import assert from 'node:assert/strict';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { code } from '../../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

describe('POST …/projects/{project_id}/runs/retry', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await startWeir();
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  it('stops when as many runs are under way as the organization may have, and is 429 when none was retried', async () => {
    const { key, projectId, organizationId } = tenant;
    const flow = await weir.createFlow(tenant, [code('a', 'throw new Error("no");')]);
    const fail = async () =>
      (await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } })).body.executionId;
    const retry = (body: object = {}) =>
      weir.call('POST', `/projects/${projectId}/runs/retry`, { key, body });
    const [first, second] = [await fail(), await fail()];
    await updateRunsUnderWayMax(weir.db, organizationId, 1);
    // The new run stays under way.
    await weir.stopWorker();
    const { retried, refused, stoppedBy, hasMore, nextCursor, bulk_id } = (await retry()).body;
    assert.deepEqual(
      [retried.map((run: { repeats: string }) => run.repeats), refused, stoppedBy, hasMore],
      [[second], [], 'RATE_LIMITED', true],
    );
    const { status, body, headers } = await retry({ cursor: nextCursor, bulk_id });
    assert.deepEqual([status, body.detail.code], [429, 'RATE_LIMITED']);
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    assert.equal((await weir.db.selectFrom('run').select('execution_id').execute()).length, 3);
    await weir.startWorker();
    await weir.finish(flow, retried[0].executionId, key);
    const rest = (await retry({ cursor: nextCursor, bulk_id })).body;
    assert.deepEqual([rest.retried.length, rest.retried[0].repeats, rest.stoppedBy], [1, first, null]);
    await weir.finish(flow, rest.retried[0].executionId, key);
    const bulk = await weir.call('GET', `/projects/${projectId}/bulk-retries/${bulk_id}`, { key });
    // A request that continues it finds the runs again that were not tried.
    assert.deepEqual([bulk.body.planned, bulk.body.started], [2, 2]);
  });
});
