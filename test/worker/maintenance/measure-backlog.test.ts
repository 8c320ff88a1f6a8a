import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { CANCELLED } from '../../../flow/run.ts';
import { measureBacklog } from '../../../worker/maintenance/measure-backlog.ts';
import { passthrough } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

const JOBS = 3;

describe('the metrics of what waits', () => {
  let weir: Weir;
  let tenant: Tenant;
  let metrics: ReturnType<typeof captureMetrics>;
  let ids: string[];
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const start = () => weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: '' } });
    const started = await Promise.all(Array.from({ length: JOBS }, start));
    ids = started.map(({ body }) => body.executionId);
    metrics = captureMetrics();
  });
  after(async () => {
    metrics?.stop();
    await weir?.stop();
  });

  const measure = async (name: string) => {
    await measureBacklog({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue });
    return metrics.read(name);
  };

  it('are the tasks of each queue for which no worker has asked, and the age of the oldest', async () => {
    await waitUntil(async () => (await measure('weir.task_queue.backlog'))['queue=runs'] === JOBS);
    assert.deepEqual(await measure('weir.task_queue.backlog'), {
      'queue=runs': JOBS,
      'queue=webhooks': 0,
    });
    const { 'queue=runs': age, ...others } = await measure('weir.task_queue.backlog_age');
    assert.ok(age !== undefined && age > 0);
    assert.deepEqual(others, { 'queue=webhooks': 0 });
  });

  it('are the calls in flight', async () => {
    assert.deepEqual(await measure('weir.run.in_flight'), { '': JOBS });
  });

  it('are the size of the databases, and that of the disk where it is given', async () => {
    const { '': bytes } = await measure('weir.database.size');
    assert.ok(bytes !== undefined && bytes > 1e6);
    assert.deepEqual(await measure('weir.database.disk'), {});
    const { db, client, config } = weir;
    await measureBacklog({ db, client, taskQueue: config.taskQueue, databaseDiskGb: 50 });
    assert.deepEqual(await metrics.read('weir.database.disk'), { '': 50e9 });
  });

  it('are the workflows whose workflow task fails', async () => {
    assert.deepEqual(await measure('weir.workflow_task.failing'), { '': 0 });
  });

  it('are the runs with a block under which three workers were lost or more', async () => {
    assert.deepEqual(await measure('weir.run.crash_looping'), { '': 0 });
    const [first = '', second = '', third = ''] = ids;
    const input = JSON.stringify({ ref: '$message' });
    const block = { step_id: 'a', name: 'a', processor_type: 'code', input, started_at: new Date() } as const;
    const losing = { ...block, attempts: 4 };
    await weir.db
      .insertInto('block_under_way')
      .values([
        { ...losing, execution_id: first, block_key: 'a' },
        { ...losing, execution_id: first, block_key: 'b' },
        { ...losing, execution_id: second, block_key: 'a' },
        { ...block, execution_id: third, block_key: 'a', attempts: 3 },
        { ...losing, execution_id: third, block_key: 'b', last_error: 'The provider is busy.' },
      ])
      .execute();
    assert.deepEqual(await measure('weir.run.crash_looping'), { '': 2 });
  });

  it('do not include runs that have ended since', async () => {
    await weir.db
      .updateTable('run')
      .set({ status: 'failed', error: JSON.stringify(CANCELLED), finished_at: sql`now()` })
      .where('execution_id', '=', ids[0] as string)
      .execute();
    assert.deepEqual(await measure('weir.run.crash_looping'), { '': 1 });
  });

  it('are the credits that are reserved', async () => {
    assert.deepEqual(await measure('weir.credits.reserved'), { '': 0 });
    for (const microcredits of [1_500_000, 250_000])
      await sql`insert into reservation (execution_id, block_key, organization_id, microcredits)
        values (${ids[0]}, ${randomUUID()}, ${tenant.organizationId}, ${microcredits})`.execute(weir.db);
    assert.deepEqual(await measure('weir.credits.reserved'), { '': 1.75 });
  });
});
