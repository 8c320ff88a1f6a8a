import assert from 'node:assert/strict';
import { type Connection, WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import { findRunStarts } from '../../../db/runs/find-run-starts.ts';
import { findRunDelivery } from '../../../db/webhooks/open-deliveries.ts';
import { deliveryWorkflowId } from '../../../flow/delivery.ts';
import { CANCELLED } from '../../../flow/run.ts';
import { startRun } from '../../../temporal/start-run.ts';
import { reconcile } from '../../../worker/reconciler/reconcile.ts';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { repairEach } from '../../../worker/reconciler/repair-each.ts';
import { registerSearchAttributes } from '../../../worker/register-search-attributes.ts';
import { acceptRun } from '../../accept-run.ts';
import { passthrough } from '../../blocks.ts';
import { captureLog } from '../../capture-log.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { watchStatements } from '../../db/watch-statements.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

describe('what workers look after', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    const { namespace } = weir.config.temporal;
    await registerSearchAttributes(weir.client.connection as Connection, namespace);
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('a')]);
  });
  after(() => weir.stop());
  afterEach(() => sql`update run set status = 'failed', finished_at = now()`.execute(weir.db));

  const deps = () => ({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue });
  const accept = async () => (await acceptRun(weir, tenant, flow)).executionId;
  /** A run whose workflow waits for a worker. */
  const start = async () => {
    const executionId = await accept();
    const [run] = await findRunStarts(weir.db, [executionId]);
    assert.ok(run);
    await startRun({ client: weir.client, taskQueue: weir.config.taskQueue }, run);
    return executionId;
  };
  const state = async (executionId: string) =>
    (await weir.client.workflow.getHandle(executionId).describe()).status.name;
  /** Waits until the engine's list, which lags behind, has these workflows as open. */
  const untilListed = (ids: string[]) => {
    const query = `CloseTime is null and WorkflowId in (${ids.map((id) => `'${id}'`).join(', ')})`;
    return waitUntil(async () => (await weir.client.workflow.count(query)).count === ids.length);
  };

  it('is found among what is as it should be: a run without a workflow is started, a terminated one ends, and the log says so', async () => {
    const [healthy, terminated, missing] = [await start(), await start(), await accept()];
    await weir.client.workflow.getHandle(terminated).terminate('by hand');
    const captured = captureLog();
    const rows = await waitUntil(async () => {
      // The engine's list may still have the terminated one as open.
      await reconcileRuns(deps(), 0);
      const failed = await weir.db
        .selectFrom('run')
        .select(['execution_id', 'error'])
        .where('status', '=', 'failed')
        .where('execution_id', 'in', [healthy, terminated, missing])
        .execute();
      return failed.length > 0 && failed;
    });
    captured.stop();
    assert.deepEqual([await state(healthy), await state(missing)], ['RUNNING', 'RUNNING']);
    const told = captured.lines.filter(
      ({ msg }) => msg === 'A run without its workflow was ended as failed.',
    );
    assert.deepEqual(
      told.map(({ level, execution_id }) => [level, execution_id]),
      [['warn', terminated]],
    );
    const started = captured.lines.find(({ msg }) =>
      msg.startsWith('Runs had no workflow in this namespace'),
    );
    const { namespace } = weir.config.temporal;
    assert.deepEqual([started?.count, started?.execution_id, started?.namespace], [1, missing, namespace]);
    assert.match(String(told[0]?.reason), /^An operator terminated the run's workflow/);
    assert.deepEqual(
      rows.map((row) => [row.execution_id, row.error?.code]),
      [[terminated, 'CANCELLED']],
    );
  });

  it('is ended when it was cancelled and no worker has heard of that for five minutes, and not before', async () => {
    const [early, late, terminated] = [await start(), await start(), await start()];
    await untilListed([early, late, terminated]);
    const cancel = (id: string, minutes: number) =>
      sql`update run set cancel_requested_at = now() - ${minutes} * interval '1 minute'
        where execution_id = ${id}`.execute(weir.db);
    await cancel(early, 4);
    await cancel(late, 6);
    // By a round that could not record the end.
    await cancel(terminated, 6);
    await weir.client.workflow.getHandle(terminated).terminate();
    await reconcileRuns(deps(), 0);
    for (const id of [late, terminated]) {
      const { status, error } = await weir.db
        .selectFrom('run')
        .select(['status', 'error'])
        .where('execution_id', '=', id)
        .executeTakeFirstOrThrow();
      assert.deepEqual([status, error], ['failed', CANCELLED]);
    }
    assert.deepEqual([await state(early), await state(late)], ['RUNNING', 'TERMINATED']);
  });

  it('has its webhook started at once when its end is recorded', async () => {
    const callback = { url: 'https://example.com/', events: ['flow.failed' as const] };
    const { executionId } = await acceptRun(weir, tenant, flow, { callback });
    const [run] = await findRunStarts(weir.db, [executionId]);
    assert.ok(run);
    await startRun({ client: weir.client, taskQueue: weir.config.taskQueue }, run);
    await weir.client.workflow.getHandle(executionId).terminate('by hand');
    const delivery = await waitUntil(async () => {
      await reconcileRuns(deps(), 0);
      return findRunDelivery(weir.db, executionId);
    });
    assert.equal(await state(deliveryWorkflowId(delivery)), 'RUNNING');
  });

  it('costs one question to the engine, a look at eight workflows, and no write, when all is well', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, start));
    await untilListed(ids);
    const rows = () => sql`select xmin::text, execution_id from run order by execution_id`.execute(weir.db);
    const before = await rows();
    const asked: string[] = [];
    const { client } = weir;
    const counting = new Proxy(client, {
      get: (target, name) => {
        if (name === 'withDeadline') asked.push('question');
        return Reflect.get(target, name);
      },
    });
    await reconcileRuns({ ...deps(), client: counting }, 0);
    assert.equal(asked.length, 1 + 8);
    assert.deepEqual((await rows()).rows, before.rows);
  });

  it('is looked at to the last, in pages, and a run that cannot be started holds up no other', async () => {
    const broken = await accept();
    const flowOfBroken = await weir.createFlow(tenant, [passthrough('b')]);
    const { executionId } = await acceptRun(weir, tenant, flowOfBroken);
    await sql`alter table flow_version disable trigger all`.execute(weir.db);
    await sql`update flow_version set definition = '{}' from run
      where run.flow_version_id = flow_version.id and execution_id = ${executionId}`.execute(weir.db);
    await sql`insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input)
      select gen_random_uuid(), organization_id, project_id, flow_id, flow_version_id, mode, environment, input
      from run, generate_series(1, 600) where execution_id = ${broken}`.execute(weir.db);
    const last = await accept();
    const metrics = captureMetrics();
    try {
      await assert.rejects(
        reconcileRuns(deps(), 0),
        RegExp(`^Error: 1 could not be repaired, the first \\(${executionId}\\) because: TypeError`),
      );
      assert.equal(await state(last), 'RUNNING');
      assert.equal((await metrics.read('weir.reconciler.findings'))['kind=run'], 602);
    } finally {
      metrics.stop();
    }
  });

  it('is not started any more once the worker is to stop', async () => {
    const stopping = new AbortController();
    let begun = 0;
    const mend = async () => {
      begun += 1;
      stopping.abort();
    };
    await repairEach(Array.from({ length: 100 }), String, mend, stopping.signal);
    assert.ok(begun < 100);
    const before = await accept();
    await reconcileRuns(deps(), 0, stopping.signal);
    await assert.rejects(state(before), WorkflowNotFoundError);
  });

  it('has several parts, none of which waits for another that hangs', async () => {
    const stopping = new AbortController();
    const executionId = await accept();
    await sql`update run set started_at = now() - interval '1 minute' where execution_id = ${executionId}`.execute(
      weir.db,
    );
    let keeping: Promise<void> | undefined;
    await weir.db.transaction().execute(async (tx) => {
      for (const table of ['test_run', 'webhook_delivery'])
        await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(tx);
      keeping = reconcile(deps(), stopping.signal);
      await waitUntil(() => state(executionId).catch(() => undefined));
      stopping.abort();
    });
    await keeping;
  });

  it('has parts of which one fails: that is logged and counted, and holds up no other', async () => {
    const stopping = new AbortController();
    const executionId = await accept();
    await sql`update run set started_at = now() - interval '1 minute' where execution_id = ${executionId}`.execute(
      weir.db,
    );
    await sql`delete from reconciler`.execute(weir.db);
    const db = watchStatements(weir.db, (node) => {
      if (JSON.stringify(node).includes('"test_run"')) throw new Error('It cannot be read');
    });
    const metrics = captureMetrics();
    const captured = captureLog();
    const counted = async (metric: string, name: string) =>
      (await metrics.read(`weir.scheduled_job.${metric}`))[`name=${name}`];
    const keeping = reconcile({ ...deps(), db }, stopping.signal);
    await waitUntil(() => state(executionId).catch(() => undefined));
    await waitUntil(async () => (await counted('completions', 'reconcileRuns')) === 1);
    await waitUntil(async () => (await counted('failures', 'reconcileTestRuns')) === 1);
    stopping.abort();
    await keeping;
    captured.stop();
    metrics.stop();
    const told = captured.lines.filter(({ msg }) => msg === 'The reconciler failed, and tries again.');
    assert.deepEqual(
      told.map(({ name }) => name),
      ['reconcileTestRuns'],
    );
  });

  it('is left to the workers of the Temporal namespace that has looked after it, and the log says so', async () => {
    const { db } = weir;
    await sql`delete from reconciler`.execute(db);
    await sql`insert into reconciler (engine) values ('the namespace other')`.execute(db);
    const executionId = await accept();
    await sql`update run set started_at = now() - interval '1 minute' where execution_id = ${executionId}`.execute(
      db,
    );
    const captured = captureLog();
    const stopping = new AbortController();
    const keeping = reconcile(deps(), stopping.signal);
    const line = await waitUntil(async () =>
      captured.lines.find(({ msg }) => msg.startsWith('Workers with another Temporal namespace')),
    );
    stopping.abort();
    await keeping;
    captured.stop();
    assert.equal(line.other, 'the namespace other');
    assert.match(String(line.own), new RegExp(`^the namespace ${weir.config.temporal.namespace} .`));
    await assert.rejects(state(executionId), WorkflowNotFoundError);
    await sql`delete from reconciler`.execute(db);
  });
});
