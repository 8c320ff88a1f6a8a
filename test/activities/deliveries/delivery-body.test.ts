import assert from 'node:assert/strict';
import { buildDeliveryBody } from '../../../activities/deliveries/delivery-request.ts';
import { ACTIVITY_BYTES_EACH, createBytesGate } from '../../../platform/limits/gates.ts';
import { code } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';

const LARGE = 'x'.repeat(300_000);

describe('the body of a webhook', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  const inputs = createBytesGate();
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
  });
  after(() => weir.stop());

  /** Runs the flow; answers the function that builds the body of its delivery. */
  async function run(body: object, path = flow) {
    const { executionId } = (await weir.call('POST', `${path}/execute`, { key: tenant.key, body })).body;
    const run = await weir.db
      .selectFrom('run')
      .selectAll()
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    const fields = { event_type: 'flow.completed', target_url: '', body: null, round: 1 } as const;
    const delivery = { ...run, ...fields, status: 'in_flight' } as const;
    return async () => JSON.parse(await buildDeliveryBody({ db: weir.db, inputs }, delivery));
  }

  it('tells the size of a message that is too long, which is read once the organization may hold it', async () => {
    const build = await run({ message: LARGE });
    const permit = await inputs.acquire(tenant.organizationId, { weight: ACTIVITY_BYTES_EACH });
    const building = build();
    await waitUntil(() => inputs.count().queued > 0);
    permit.release();
    const { result, truncated, originalResultBytes } = await building;
    assert.deepEqual([result, truncated, originalResultBytes], [null, true, LARGE.length + 2]);
    assert.equal(inputs.count().weight, 0);
  });

  it('has a result of many values that count as more than it may have', async () => {
    const each = { type: 'loop', step_id: 'each', name: 'each', max_iterations: 100 } as const;
    const sevens = { ...each, body: [code('sevens', 'return Array(300).fill(7);')] };
    const path = await weir.createFlow(tenant, [code('list', 'return Array(100).fill(0);'), sevens]);
    const { result, truncated } = await (await run({ message: '' }, path))();
    assert.deepEqual([result?.length, truncated], [100, undefined]);
  });

  it('has a short message, however large the rest of the request was', async () => {
    const build = await run({ message: 'short', parameters: { large: LARGE } });
    assert.equal((await build()).result, 'short');
  });
});
