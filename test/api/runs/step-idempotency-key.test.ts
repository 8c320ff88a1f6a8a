import assert from 'node:assert/strict';
import { code, passthrough } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import type { SseMessage } from '../../sse.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';

const whole = { stepIndex: 0, message: 'm', runRemaining: true };

describe('POST …/step with an Idempotency-Key', () => {
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
  });
  after(() => weir.stop());

  const runs = async () => (await weir.db.selectFrom('run').select('execution_id').execute()).length;
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
  it('replays the same events of the same call', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
    const first = await client.step(flow, whole, keyed('k'));
    const before = await runs();
    const response = await client.open(flow, whole, keyed('k'));
    assert.equal(response.headers.get('idempotent-replayed'), 'true');
    const again: SseMessage[] = [];
    for await (const event of client.read(response)) again.push(event);
    assert.deepEqual(again, first);
    assert.equal(await runs(), before);
    const changed = await client.open(flow, { ...whole, message: 'n' }, keyed('k'));
    assert.equal(changed.status, 409);
    await changed.body?.cancel();
  });

  it('takes a field that is null for one that was left out', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const withNulls = { ...whole, executionId: null, version: null, callbackUrl: null };
    const first = await client.step(flow, withNulls, keyed('nulls'));
    assert.deepEqual(await client.step(flow, whole, keyed('nulls')), first);
    const second = await client.step(flow, whole, keyed('none'));
    assert.deepEqual(await client.step(flow, withNulls, keyed('none')), second);
  });

  it('gives simultaneous requests one session, and replays a step of it that failed', async () => {
    const flow = await weir.createFlow(tenant, [code('bad', 'throw new Error("no")')]);
    const before = await runs();
    const all = await Promise.all(Array.from({ length: 5 }, () => client.step(flow, whole, keyed('many'))));
    for (const events of all) assert.deepEqual(events, all[0]);
    assert.equal(only(all[0] ?? [], 'run_failed').code, 'CODE_ERROR');
    assert.equal(await runs(), before + 2);
  });

  it('runs a step of a session once', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b'), passthrough('c')]);
    const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 1 } };
    const before = await runs();
    const [first, ...rest] = await Promise.all([1, 2, 3].map(() => client.step(flow, call, keyed('next'))));
    for (const events of rest) assert.deepEqual(events, first);
    assert.equal(await runs(), before + 1);
    await client.step(flow, call);
    assert.equal(await runs(), before + 2);
  });
});
