import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { acceptRun } from '../accept-run.ts';
import { llm, passthrough } from '../blocks.ts';
import { keepLocks, lockWaiters } from '../db/lock-waiters.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { type Program, startProgram } from './processes.ts';
import { faultSize } from './sizes.ts';

const RUNS = faultSize(600, 20_000);
/** So many the worker looks at before it is asked to stop. */
const LOOKED_AT = 100;
/** One in so many is carried out; the others were cancelled, and only their end is to be recorded. */
const CARRIED_OUT = faultSize(2, 10);

/** The environment of a service that is asked to stop as its worker begins, which then takes longer than the API does to close. */
const STOPPED_AS_IT_BEGINS = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    import { Worker } from ${JSON.stringify(import.meta.resolve('@temporalio/worker'))};
    const create = Worker.create;
    Worker.create = async (options) => {
      process.kill(process.pid, 'SIGTERM');
      while (process.getActiveResourcesInfo().includes('TCPServerWrap'))
        await new Promise((resolve) => setTimeout(resolve, 10));
      return create.call(Worker, options);
    };
  `)}`,
};

/** The SDK says what takes long, and what the engine has given to another meanwhile: a busy machine does that. */
const OF_SDK = '"target":"temporalio_';

describe('a worker that is asked to stop', () => {
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  const programs: Program[] = [];
  before(async () => {
    models = await startCountingModelServer(0);
    weir = await startWeir({
      env: { DEMO_BASE_URL: models.url, WEIR_HEARTBEAT_TIMEOUT: '5' },
      worker: false,
    });
    tenant = await weir.createTenant({ credits: 100_000 });
  });
  after(async () => {
    await Promise.all(programs.map((program) => program.kill()));
    await weir.stop();
    await models.close();
  });

  const start = async (file = 'worker/worker.ts', env: NodeJS.ProcessEnv = {}) => {
    const program = await startProgram(weir, file, { DEMO_BASE_URL: models.url, ...env });
    programs.push(program);
    return program;
  };
  const complaintsOf = (program: Program) =>
    program
      .errors()
      .split('\n')
      .filter((line) => line !== '' && !line.includes('"level":"info"') && !line.includes(OF_SDK));
  /** Runs as API processes leave them that die before they start the workflows, long ago. */
  const leaveRuns = async (flow: string, runs: number) => {
    const { executionId } = await acceptRun(weir, tenant, flow);
    await sql`insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input)
      select gen_random_uuid(), organization_id, project_id, flow_id, flow_version_id, mode, environment, input
      from run, generate_series(2, ${runs}) where execution_id = ${executionId}`.execute(weir.db);
    await sql`update run set started_at = now() - interval '1 hour'`.execute(weir.db);
    await sql`update run set cancel_requested_at = now() from (
        select execution_id, row_number() over (order by execution_id) as place from run
      ) placed
      where placed.execution_id = run.execution_id and place % ${CARRIED_OUT} <> 0`.execute(weir.db);
  };
  const countRuns = async (status: 'started' | 'completed' | 'failed') => {
    const { count } = await weir.db
      .selectFrom('run')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('status', '=', status)
      .executeTakeFirstOrThrow();
    return Number(count);
  };

  it('ends while there are runs left to look at, and leaves them to the next, which does each once', async () => {
    await leaveRuns(await weir.createFlow(tenant, [passthrough('a')]), RUNS);
    const { worker, stopped } = await weir.db.transaction().execute(async (tx) => {
      await keepLocks(tx);
      // The worker, which looks at them in this order, comes no further until it is asked to stop.
      const last = sql`(select execution_id from run order by execution_id offset ${LOOKED_AT} limit 1)`;
      await sql`select from run where execution_id = ${last} for update`.execute(tx);
      const worker = await start();
      await lockWaiters(weir.db, 1);
      await waitUntil(async () => (await countRuns('completed')) > 0);
      return { worker, stopped: worker.stop() };
    });
    assert.deepEqual([await stopped, complaintsOf(worker)], [0, []]);
    assert.ok((await countRuns('started')) > 0);
    const next = await start('api/serve-with-worker.ts');
    await waitUntil(async () => (await countRuns('started')) === 0);
    const carriedOut = RUNS / CARRIED_OUT;
    assert.deepEqual(
      [await countRuns('completed'), await countRuns('failed')],
      [carriedOut, RUNS - carriedOut],
    );
    const { rows } = await sql<{ blocks: number }>`select count(*)::int as blocks from block_run`.execute(
      weir.db,
    );
    assert.equal(rows[0]?.blocks, carriedOut);
    assert.deepEqual([await next.stop(), complaintsOf(next)], [0, []]);
  }).timeout(faultSize(300_000, 3_600_000));

  it('finishes what it runs also when it is asked twice', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', 'held', 'demo/chat')]);
    const service = await start('api/serve-with-worker.ts');
    const { origin } = new URL(/http\S+/.exec(service.ready)?.[0] ?? '');
    const held = models.hold('held');
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    await held.arrived(1);
    const stopped = service.stop();
    await waitUntil(() =>
      fetch(`${origin}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    const again = service.stop();
    held.release();
    assert.deepEqual([await stopped, await again], [0, 0]);
    assert.equal((await weir.finish(flow, body.executionId, tenant.key)).body.status, 'completed');
    assert.equal(models.asked.get('held'), 1);
  });

  it('ends in order also when it is asked as it begins', async () => {
    const service = await start('api/serve-with-worker.ts', STOPPED_AS_IT_BEGINS);
    assert.equal(await service.stop(), 0);
    assert.deepEqual(complaintsOf(service), []);
  });

  it('ends while what it runs is being repeated, and nothing panics', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const worker = await start();
    await sql`alter table block_run rename to block_run_away`.execute(weir.db);
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    const { workflow } = weir.client;
    const begun = async () =>
      (await workflow.getHandle(body.executionId).fetchHistory()).events?.some(
        (event) => event.workflowTaskStartedEventAttributes,
      );
    await waitUntil(begun);
    assert.equal(await worker.stop(), 0);
    assert.doesNotMatch(worker.errors(), /panicked/);
    await sql`alter table block_run_away rename to block_run`.execute(weir.db);
    await start();
    assert.equal((await weir.finish(flow, body.executionId, tenant.key)).body.status, 'completed');
  });
});
