// Model keys that come with a request which is refused.
import assert from 'node:assert/strict';
import type { RequestModelKeys } from '../../../activities/request-model-keys.ts';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { passthrough } from '../../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

describe('a model key that comes with a request', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  const held = new Map<string, string>();
  let refusal: ServiceError | undefined;
  const requestModelKeys: RequestModelKeys = {
    async hold(organizationId, callId) {
      if (refusal) throw refusal;
      held.set(callId, organizationId);
    },
    drop: (callId) => void held.delete(callId),
    find: () => assert.fail('no worker runs here'),
    close: async () => undefined,
  };
  before(async () => {
    weir = await startWeir({ worker: false, requestModelKeys });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('a')]);
  });
  afterEach(() => {
    refusal = undefined;
    held.clear();
  });
  after(() => weir.stop());

  const start = () =>
    weir.call('POST', `${flow}/jobs`, {
      key: tenant.key,
      body: { message: 'm' },
      headers: { 'x-weir-model-key': 'openai=sk-mine' },
    });
  const countRuns = async () => (await weir.db.selectFrom('run').select('execution_id').execute()).length;

  it('is held for its organization once its run is stored, and dropped when that is refused', async () => {
    const { status, body } = await start();
    assert.equal(status, 202, JSON.stringify(body));
    const expected = [[body.executionId, tenant.organizationId]];
    assert.deepEqual([...held], expected);
    await updateRunsUnderWayMax(weir.db, tenant.organizationId, 1);
    assert.equal((await start()).status, 429);
    await updateRunsUnderWayMax(weir.db, tenant.organizationId, null);
    assert.deepEqual([...held], expected);
  });

  it('is refused with Retry-After, and nothing is stored, while its organization holds as many as it may', async () => {
    const before = await countRuns();
    refusal = new ServiceError('RATE_LIMITED', 'Too many keys.');
    const { status, body, headers } = await start();
    assert.deepEqual([status, body.detail.code], [429, 'RATE_LIMITED']);
    assert.ok(Number(headers.get('retry-after')) > 0);
    assert.equal(await countRuns(), before);
  });
});
