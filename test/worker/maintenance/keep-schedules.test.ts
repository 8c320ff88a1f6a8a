import assert from 'node:assert/strict';
import { type ScheduleDescription, ScheduleOverlapPolicy } from '@temporalio/client';
import { sql } from 'kysely';
import { SCHEDULED_JOBS, type ScheduledJob } from '../../../flow/maintenance.ts';
import { keepSchedules, scheduleId } from '../../../worker/maintenance/keep-schedules.ts';
import { code } from '../../blocks.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

describe('the schedules of maintenance', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ schedules: true });
  });
  after(async () => {
    await weir.stopWorker();
    for (const job of SCHEDULED_JOBS)
      await handleOf(job)
        .delete()
        .catch(() => undefined);
    await weir.stop();
  });

  const handleOf = (job: ScheduledJob) =>
    weir.client.schedule.getHandle(scheduleId(weir.config.taskQueue, job));
  const found = (job: ScheduledJob) =>
    waitUntil(async () =>
      handleOf(job)
        .describe()
        .catch(() => undefined),
    );
  /** Looks after the schedules as a worker that starts does, until `isDone`. */
  async function start(isDone: () => Promise<unknown>): Promise<void> {
    const stopping = new AbortController();
    const keeping = keepSchedules({ client: weir.client, taskQueue: weir.config.taskQueue }, stopping.signal);
    try {
      await waitUntil(isDone);
    } finally {
      stopping.abort();
      await keeping;
    }
  }
  const lastRun = ({ info }: ScheduleDescription) => info.recentActions.at(-1)?.action.workflow;

  it('are listed by names that say what they do, each with a note', async () => {
    const prefix = `${weir.config.taskQueue}-`;
    const listed = await waitUntil(async () => {
      const all = [];
      for await (const schedule of weir.client.schedule.list())
        if (schedule.scheduleId.startsWith(prefix)) all.push(schedule);
      return all.length === SCHEDULED_JOBS.length && all;
    });
    assert.deepEqual(listed.map((schedule) => schedule.scheduleId.slice(prefix.length)).sort(), [
      'count-usage',
      'delete-definitions',
      'delete-expired-keys',
      'delete-old-runs',
      'delete-stored-objects',
      'measure-backlog',
      'release-reservations',
    ]);
    for (const { state } of listed) assert.match(state.note ?? '', /^[A-Z].*\.$/);
  });

  it('skip what overlaps, and make up for a minute at most after an outage', async () => {
    for (const job of SCHEDULED_JOBS) {
      const { policies } = await found(job);
      assert.deepEqual(policies, {
        overlap: ScheduleOverlapPolicy.SKIP,
        catchupWindow: 60_000,
        pauseOnFailure: false,
      });
    }
  });

  it('run their jobs, each a workflow of its name that ends', async () => {
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, [code('one', 'return 1;')]);
    const { status } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: '' } });
    assert.equal(status, 200);
    for (const job of SCHEDULED_JOBS) {
      await found(job);
      await handleOf(job).trigger();
      const run = await waitUntil(async () => lastRun(await handleOf(job).describe()));
      const workflow = weir.client.workflow.getHandle(run.workflowId, run.firstExecutionRunId);
      await workflow.result();
      assert.equal((await workflow.describe()).type, job);
    }
    const { rows } = await sql`select from usage_pending limit 1`.execute(weir.db);
    assert.deepEqual(rows, []);
  });

  it('start no job while it is under way', async () => {
    const handle = handleOf('deleteDefinitions');
    await weir.stopWorker();
    // Without a policy of its own, as the SDK's trigger has one: as if its time had come.
    const begin = () =>
      weir.client.workflowService.patchSchedule({
        namespace: weir.config.temporal.namespace,
        scheduleId: handle.scheduleId,
        patch: { triggerImmediately: {} },
      });
    const info = async () => (await handle.describe()).info;
    const skipped = (await info()).numActionsSkippedOverlap;
    await begin();
    await waitUntil(async () => (await info()).runningActions.length === 1);
    await begin();
    await waitUntil(async () => (await info()).numActionsSkippedOverlap > skipped);
    await weir.startWorker();
    await waitUntil(async () => (await info()).runningActions.length === 0);
  });

  it('are created again when they were deleted', async () => {
    await found('countUsage');
    await handleOf('countUsage').delete();
    await start(() =>
      handleOf('countUsage')
        .describe()
        .catch(() => undefined),
    );
  });

  it('get the times of this release, and stay paused where an operator has paused them', async () => {
    const handle = handleOf('deleteOldRuns');
    await found('deleteOldRuns');
    const intervals = async () => (await handle.describe()).spec.intervals;
    await handle.update((before) => ({ ...before, spec: { intervals: [{ every: '1 day' }] } }));
    // The engine takes in changes of one moment in an order of its own.
    await waitUntil(async () => (await intervals())?.[0]?.every !== 600_000);
    await handle.pause('An operator looks into the rows.');
    await waitUntil(async () => (await handle.describe()).state.paused);
    await start(async () => (await intervals())?.[0]?.every === 600_000);
    const { state } = await handle.describe();
    assert.deepEqual([state.paused, state.note], [true, 'An operator looks into the rows.']);
    // A worker that starts later changes nothing.
    await start(() => handleOf('deleteExpiredKeys').describe());
    assert.equal((await handle.describe()).state.paused, true);
  });
});
