// The activity types of scheduled jobs, by the names operators read in the Temporal Web UI. Each works in batches until nothing
// is left or its worker stops. Several workers may do the same job at a time.
import type { Db } from '../../db/connect.ts';
import { releaseLeftReservations } from '../../db/credits/reservations.ts';
import { deleteLeftBlocks } from '../../db/runs/blocks-under-way.ts';
import { deleteExpiredKeys } from '../../db/runs/idempotency-keys.ts';
import { deleteExpiredResults } from '../../db/tenants/kept-results.ts';
import { deleteDefinitions, deleteDraftSnapshots } from '../../db/upkeep/delete-definitions.ts';
import { countUsage } from '../../db/usage/count-usage.ts';
import type { ScheduledJob } from '../../flow/maintenance.ts';
import { jobCompletions, jobFailures } from '../../platform/observability/metrics/worker-metrics.ts';
import { runAttempt } from '../attempts/run-attempt.ts';
import { createRunDeletion } from './delete-old-runs.ts';
import { createObjectDeletion } from './delete-stored-objects.ts';
import { inBatches } from './in-batches.ts';

/** Rows that a statement deletes or adds up. */
const ROWS_MAX = 2_000;
/** Versions, with their definitions, that a statement deletes. */
const DEFINITIONS_MAX = 100;

export type MaintenanceDeps = {
  db: Db;
  /** Old runs are kept when absent. */
  retentionDays: number | undefined;
  /** Asks the engine and the database what waits. */
  measureBacklog: () => Promise<void>;
};

export type MaintenanceActivities = { [job in ScheduledJob]: () => Promise<void> };

/** Creates the activities over their dependencies, which the caller opens and closes. */
export function createMaintenanceActivities(deps: MaintenanceDeps): MaintenanceActivities {
  const { db, retentionDays } = deps;
  const deleteObjects = createObjectDeletion(db);
  const deleteRuns = retentionDays === undefined ? undefined : createRunDeletion(db, retentionDays);
  return {
    /** Adds ended runs to the sums of usage. */
    countUsage: () =>
      runJob('countUsage', (signal) =>
        inBatches(signal, async () => (await countUsage(db, ROWS_MAX)) === ROWS_MAX),
      ),

    /** Releases credits that ended runs left reserved, and deletes the rows of blocks that they left in flight. */
    releaseReservations: () =>
      runJob('releaseReservations', async (signal) => {
        await releaseLeftReservations(db);
        await inBatches(signal, async () => (await deleteLeftBlocks(db, ROWS_MAX)) === ROWS_MAX);
      }),

    /** Measures what waits, and logs workflows whose workflow task fails. */
    measureBacklog: () => runJob('measureBacklog', deps.measureBacklog),

    /** Retention: deletes runs, test runs and test deliveries without a change for some days. */
    deleteOldRuns: () =>
      runJob('deleteOldRuns', async (signal) => {
        await deleteRuns?.(signal);
      }),

    /** Deletes what deleted flows left, and snapshots of drafts as old as runs that are deleted. */
    deleteDefinitions: () =>
      runJob('deleteDefinitions', async (signal) => {
        await inBatches(signal, () => deleteDefinitions(db, DEFINITIONS_MAX));
        if (retentionDays === undefined) return;
        await inBatches(
          signal,
          async () => (await deleteDraftSnapshots(db, retentionDays, DEFINITIONS_MAX)) === DEFINITIONS_MAX,
        );
      }),

    /** Deletes objects that nobody can read any more. */
    deleteStoredObjects: () =>
      runJob('deleteStoredObjects', async (signal) => {
        if (db.objects) await deleteObjects(signal);
      }),

    /** Deletes expired idempotency keys, with the results that were kept for them. */
    deleteExpiredKeys: () =>
      runJob('deleteExpiredKeys', async (signal) => {
        await inBatches(signal, async () => (await deleteExpiredKeys(db, ROWS_MAX)) === ROWS_MAX);
        await inBatches(signal, async () => (await deleteExpiredResults(db, ROWS_MAX)) === ROWS_MAX);
      }),
  };
}

/** Runs one attempt of a job and counts how it ends. */
function runJob(job: ScheduledJob, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  return runAttempt(async ({ signal }) => {
    try {
      await work(signal);
      jobCompletions.add(1, { name: job });
    } catch (error) {
      if (!signal.aborted) jobFailures.add(1, { name: job });
      throw error;
    }
  });
}
