import assert from 'node:assert/strict';
import { revokeApiKey } from '../../../db/tenants/api-keys.ts';
import { code } from '../../blocks.ts';
import { countLockWaiters } from '../../db/lock-waiters.ts';
import type { Weir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';

describe('POST …/projects/{project_id}/runs/retry whose API key is revoked meanwhile', () => {
  let weir: Weir;
  before(async () => {
    weir = await getSharedWeir();
  });
  after(() => weir.stop());

  it('retries no further run, and says so', async () => {
    const tenant = await weir.createTenant();
    const { projectId } = tenant;
    const { key, keyId } = await createScopedKey(weir, projectId, 'run');
    const flow = await weir.createFlow(tenant, [code('a', 'throw new Error("no");')]);
    const fail = () => weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    await fail();
    const newest: string = (await fail()).body.executionId;
    const { retried } = await weir.db.transaction().execute(async (tx) => {
      // The newest run is retried first: its repetition is stored once this transaction has ended.
      const run = tx.selectFrom('run').select('execution_id').where('execution_id', '=', newest);
      await run.forUpdate().execute();
      const retried = weir.call('POST', `/projects/${projectId}/runs/retry`, { key, body: {} });
      await waitUntil(async () => (await countLockWaiters(weir.db)) > 0);
      await weir.db.transaction().execute((other) => revokeApiKey(other, projectId, keyId));
      await waitUntil(async () => (await weir.call('GET', '/me', { key })).status === 401);
      return { retried };
    });
    const { status, body } = await retried;
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.retried.map((run: { repeats: string }) => run.repeats),
      [newest],
    );
    assert.deepEqual(
      [body.stoppedBy, body.refused, body.hasMore, body.nextCursor],
      ['UNAUTHENTICATED', [], true, newest],
    );
    await weir.finish(flow, body.retried[0].executionId, tenant.key);
  });
});
