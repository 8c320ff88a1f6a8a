import type { Client } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { releaseLeftReservations } from '../../db/credits/reservations.ts';
import { deleteLeftBlocks } from '../../db/runs/blocks-under-way.ts';
import { deleteExpiredKeys } from '../../db/runs/idempotency-keys.ts';
import { cancelLeft } from '../../db/upkeep/cancel-of-deleted.ts';
import { deleteDefinitions, deleteDraftSnapshots } from '../../db/upkeep/delete-definitions.ts';
import { dropPartitions } from '../../db/upkeep/drop-partitions.ts';
import { countUsage } from '../../db/usage/count-usage.ts';
import { createEngineClaim } from './create-engine-claim.ts';
import { deleteOldInBatches } from './delete-old-in-batches.ts';
import { MEASURE_EVERY_MS, measureBacklog } from './measure-backlog.ts';
import { preparePartitionsApart } from './prepare-partitions-apart.ts';
import { reconcileDeliveries } from './reconcile-deliveries.ts';
import { reconcileRuns } from './reconcile-runs.ts';
import { reconcileTestRuns } from './reconcile-test-runs.ts';
import { removeObjects } from './remove-objects.ts';
import { type Duty, repeatDuty } from './repeat-duty.ts';
import { tellFailingWorkflowTasks } from './tell-failing-workflow-tasks.ts';

/** A younger run is left alone. */
const QUIET_SECONDS = 30;
const EXPIRED_KEYS_MAX = 2_000;
const LEFT_BLOCKS_MAX = 2_000;
const COUNTED_MAX = 2_000;
const SNAPSHOTS_MAX = 100;
const DEFINITIONS_MAX = 100;
const EVERY_MS = 15_000;
const EVERY_MINUTE_MS = 60_000;
const EVERY_TEN_MINUTES_MS = 600_000;

type Deps = {
  db: Db;
  databaseUrl: string;
  client: Client;
  taskQueue: string;
  retentionDays: number | undefined;
  /** Whether this process has metrics: what waits is asked for them alone. */
  measures?: boolean | undefined;
};

/**
 * Repairs what requests and workflows that died have left, and deletes what is old, until `signal` aborts. Each duty has its
 * own pace: one that takes long, or fails, holds up no other.
 */
export async function performDuties(deps: Deps, signal: AbortSignal): Promise<void> {
  await Promise.all(duties(deps).map((duty) => repeatDuty(deps.db, duty, signal)));
}

function duties(deps: Deps): Duty[] {
  const { db, databaseUrl, retentionDays } = deps;
  const mayPerform = createEngineClaim(deps);
  const always: Duty[] = [
    {
      name: 'Reconciling runs',
      everyMs: EVERY_MS,
      mayPerform,
      perform: all((signal) => reconcileRuns(deps, QUIET_SECONDS, signal)),
    },
    {
      name: 'Looking for failing workflow tasks',
      everyMs: EVERY_MINUTE_MS,
      perform: all(() => tellFailingWorkflowTasks(deps)),
    },
    {
      name: 'Cancelling what deleted projects left',
      everyMs: EVERY_MS,
      perform: all((signal) => cancelLeft(db, { signal })),
    },
    {
      name: 'Reconciling test runs',
      everyMs: EVERY_MS,
      mayPerform,
      perform: all((signal) => reconcileTestRuns(deps, QUIET_SECONDS, signal)),
    },
    {
      name: 'Reconciling deliveries',
      everyMs: EVERY_MS,
      mayPerform,
      perform: (signal) => reconcileDeliveries(deps, signal),
    },
    { name: 'Releasing reservations', everyMs: EVERY_MS, perform: all(() => releaseLeftReservations(db)) },
    {
      name: 'Deleting what shows blocks that have ended',
      everyMs: EVERY_MINUTE_MS,
      perform: async () => (await deleteLeftBlocks(db, LEFT_BLOCKS_MAX)) === LEFT_BLOCKS_MAX,
    },
    {
      name: 'Counting usage',
      everyMs: EVERY_MS,
      perform: async () => (await countUsage(db, COUNTED_MAX)) === COUNTED_MAX,
    },
    {
      name: 'Deleting expired idempotency keys',
      everyMs: EVERY_MS,
      perform: async () => (await deleteExpiredKeys(db, EXPIRED_KEYS_MAX)) === EXPIRED_KEYS_MAX,
    },
    {
      name: 'Deleting definitions of deleted flows',
      everyMs: EVERY_TEN_MINUTES_MS,
      perform: () => deleteDefinitions(db, DEFINITIONS_MAX),
    },
    {
      // Also without retention, which may have been set until a moment ago: what it left half made refuses rows.
      name: 'Preparing partitions',
      everyMs: EVERY_TEN_MINUTES_MS,
      perform: all((signal) => preparePartitionsApart(db, { databaseUrl, retentionDays }, signal)),
    },
  ];
  if (deps.measures)
    always.push({
      name: 'Measuring what waits',
      everyMs: MEASURE_EVERY_MS,
      perform: all(() => measureBacklog(deps)),
    });
  if (db.objects)
    always.push({ name: 'Deleting stored objects', everyMs: EVERY_MS, perform: removeObjects(db) });
  if (retentionDays !== undefined)
    always.push(
      { name: 'Deleting what is old', everyMs: EVERY_MS, perform: deleteOldInBatches(db, retentionDays) },
      {
        name: 'Deleting snapshots of drafts',
        everyMs: EVERY_TEN_MINUTES_MS,
        perform: async () => (await deleteDraftSnapshots(db, retentionDays, SNAPSHOTS_MAX)) === SNAPSHOTS_MAX,
      },
      {
        name: 'Dropping partitions',
        everyMs: EVERY_TEN_MINUTES_MS,
        perform: async (signal) => (await dropPartitions(db, retentionDays, { signal })) > 0,
      },
    );
  return always;
}

/** Wraps work that does everything there is to do, so that nothing is left to be done at once. */
function all(work: (signal: AbortSignal) => Promise<void>): Duty['perform'] {
  return async (signal) => {
    await work(signal);
    return false;
  };
}
