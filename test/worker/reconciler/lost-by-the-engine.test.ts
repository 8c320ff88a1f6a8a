import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { sql } from 'kysely';
import { requestCancel } from '../../../db/runs/run-cancellation.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { findRunDelivery } from '../../../db/webhooks/open-deliveries.ts';
import { deliveryWorkflowId } from '../../../flow/delivery.ts';
import { CANCELLED } from '../../../flow/run.ts';
import { reconcileDeliveries } from '../../../worker/reconciler/reconcile-deliveries.ts';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { reconcileTestRuns } from '../../../worker/reconciler/reconcile-test-runs.ts';
import { acceptRun } from '../../accept-run.ts';
import { passthrough } from '../../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

describe("what is in the engine's list of running workflows, and not in its histories", () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('a')]);
  });
  after(() => weir.stop());
  afterEach(() => sql`update run set status = 'failed', finished_at = now()`.execute(weir.db));

  /** As if the engine's list had every workflow as running, and so the first `described` descriptions. */
  const deps = (described = 0) => {
    const { db, client, config } = weir;
    let left = described;
    const workflow = replacing(client.workflow, {
      count: async () => ({ count: Infinity }),
      getHandle(workflowId: string) {
        const handle = client.workflow.getHandle(workflowId);
        left -= 1;
        return left < 0 ? handle : { ...handle, describe: async () => ({ status: { name: 'RUNNING' } }) };
      },
    });
    const believing = replacing<Client>(client, { workflow });
    return { db, client: believing, taskQueue: config.taskQueue };
  };
  const state = async (workflowId: string) =>
    (await weir.client.workflow.getHandle(workflowId).describe()).status.name;

  it('is looked for: a run is started again', async () => {
    const { executionId } = await acceptRun(weir, tenant, flow);
    await reconcileRuns(deps(), 0);
    assert.equal(await state(executionId), 'RUNNING');
  });

  it('is found by a cancellation, which ends the run', async () => {
    const { executionId } = await acceptRun(weir, tenant, flow);
    await requestCancel(weir.db, executionId);
    await reconcileRuns(deps(1), 0);
    const run = await weir.db
      .selectFrom('run')
      .select(['status', 'error'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.deepEqual([run.status, run.error?.code], ['failed', CANCELLED.code]);
  });

  it('is found by a cancellation, which ends the test run', async () => {
    const { executionId } = await acceptRun(weir, tenant, flow);
    const id = randomUUID();
    await sql`insert into test_run (id, flow_id, flow_version_id, cancel_requested_at)
      select ${id}, flow_id, flow_version_id, now() from run where execution_id = ${executionId}`.execute(
      weir.db,
    );
    await reconcileTestRuns(deps(1), 0);
    const left = sql`select from test_run where id = ${id} and status = 'started'`;
    assert.deepEqual((await left.execute(weir.db)).rows, []);
  });

  it('is looked for: a delivery is started again', async () => {
    const callback = { url: 'https://example.com/', events: ['flow.failed' as const] };
    const { executionId } = await acceptRun(weir, tenant, flow, { callback });
    await finishRun(weir.db, executionId, { status: 'failed', error: CANCELLED });
    await sql`update webhook_delivery set check_at = now()`.execute(weir.db);
    await reconcileDeliveries(deps());
    const delivery = await findRunDelivery(weir.db, executionId);
    assert.ok(delivery);
    assert.equal(await state(deliveryWorkflowId(delivery)), 'RUNNING');
  });
});

function replacing<T extends object>(target: T, parts: object): T {
  return new Proxy(target, {
    get: (of, name) => Reflect.get(name in parts ? parts : of, name, name in parts ? parts : of),
  });
}
