// The Schedules of maintenance: operators see, pause and trigger them in the Temporal Web UI.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { SCHEDULED_JOBS, type ScheduledJob } from '../../flow/maintenance.ts';
import { log } from '../../platform/observability/log.ts';
import { createOnceAMinute } from '../../platform/observability/outage-log.ts';
import { askEngine, logEngineOutage } from '../../temporal/ask-engine.ts';
import { describeEngineError } from '../../temporal/engine-errors.ts';

const CHECK_EVERY_MS = 60_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/** After an outage of the engine, a job of a longer time ago is not made up for: the next one does its work. */
const CATCHUP_WINDOW_MS = MINUTE_MS;

/** `offsetMs`: the jobs do not begin at one moment. */
const TIMES: { [job in ScheduledJob]: { everyMs: number; offsetMs: number; note: string } } = {
  countUsage: {
    everyMs: MINUTE_MS,
    offsetMs: 0,
    note: 'Adds ended runs to the sums of usage.',
  },
  releaseReservations: {
    everyMs: MINUTE_MS,
    offsetMs: 20 * SECOND_MS,
    note: 'Releases credits that ended runs left reserved.',
  },
  measureBacklog: {
    everyMs: MINUTE_MS,
    offsetMs: 40 * SECOND_MS,
    note: 'Measures what waits, and logs workflows whose workflow task fails.',
  },
  deleteOldRuns: {
    everyMs: 10 * MINUTE_MS,
    offsetMs: 1.5 * MINUTE_MS,
    note: 'Deletes runs, test runs and test deliveries older than WEIR_RETENTION_DAYS.',
  },
  deleteDefinitions: {
    everyMs: 10 * MINUTE_MS,
    offsetMs: 3.5 * MINUTE_MS,
    note: 'Deletes what deleted flows left, and old snapshots of drafts.',
  },
  deleteStoredObjects: {
    everyMs: 10 * MINUTE_MS,
    offsetMs: 5.5 * MINUTE_MS,
    note: 'Deletes objects of deleted runs from the object store.',
  },
  deleteExpiredKeys: {
    everyMs: 10 * MINUTE_MS,
    offsetMs: 7.5 * MINUTE_MS,
    note: 'Deletes idempotency keys after a day.',
  },
};

type Deps = { client: Client; taskQueue: string };

/**
 * Keeps the schedules until `signal` aborts: creates those that are missing, as in an engine that was emptied, and at first
 * updates those of another release. A schedule that an operator has paused stays paused.
 */
export async function keepSchedules({ client, taskQueue }: Deps, signal: AbortSignal): Promise<void> {
  const countSuppressed = createOnceAMinute();
  let areCurrent = false;
  while (!signal.aborted) {
    try {
      for (const job of SCHEDULED_JOBS) await keepSchedule(client, scheduleOf(taskQueue, job), !areCurrent);
      areCurrent = true;
    } catch (error) {
      if (!signal.aborted && !logEngineOutage(error) && countSuppressed() !== undefined)
        log.warn(
          { reason: describeEngineError(error) },
          'The schedules of maintenance could not be created or updated: this is tried again each minute.',
        );
    }
    await sleep(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the id of a job's schedule, such as `weir-count-usage`, which the ids of its workflows begin with. */
export function scheduleId(taskQueue: string, job: ScheduledJob): string {
  return `${taskQueue}-${job.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function scheduleOf(taskQueue: string, job: ScheduledJob) {
  const { everyMs, offsetMs, note } = TIMES[job];
  return {
    scheduleId: scheduleId(taskQueue, job),
    spec: { intervals: [{ every: everyMs, offset: offsetMs }] },
    action: {
      type: 'startWorkflow',
      workflowType: job,
      workflowId: scheduleId(taskQueue, job),
      taskQueue,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW_MS },
    state: { note },
  } satisfies ScheduleOptions;
}

type Schedule = ReturnType<typeof scheduleOf>;

async function keepSchedule(client: Client, schedule: Schedule, mayUpdate: boolean): Promise<void> {
  try {
    await askEngine(client, () => client.schedule.create(schedule));
    return;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  if (!mayUpdate) return;
  const handle = client.schedule.getHandle(schedule.scheduleId);
  if (isCurrent(await askEngine(client, () => handle.describe()), schedule)) return;
  const { spec, action, policies, state } = schedule;
  await askEngine(client, () =>
    handle.update((before) => ({
      spec,
      action,
      policies,
      state: before.state.paused ? before.state : { ...before.state, ...state },
    })),
  );
}

/** Whether the engine's schedule has the times, the workflow and the policies of this release. */
function isCurrent({ spec, action, policies }: ScheduleDescription, wanted: Schedule): boolean {
  const [interval, ...others] = spec.intervals ?? [];
  const [{ every, offset }] = wanted.spec.intervals as [{ every: number; offset: number }];
  return (
    others.length === 0 &&
    interval?.every === every &&
    interval.offset === offset &&
    action.workflowType === wanted.action.workflowType &&
    action.taskQueue === wanted.action.taskQueue &&
    policies.overlap === wanted.policies.overlap &&
    policies.catchupWindow === wanted.policies.catchupWindow
  );
}
