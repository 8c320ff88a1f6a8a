// Test runs too are never lost: finds those that have not ended and whose workflow is missing or has.
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { startTestRun } from '../api/start-test-run.ts';
import type { Db } from '../db/connect.ts';
import { claimUnfinishedTestRuns, finishTestRun } from '../db/test-runs.ts';

const CLAIMED_MAX = 100;

/** One look at unfinished test runs that are older than `quietSeconds`; their flows' runs are `reconcile`'s. */
export async function reconcileTests(
  deps: { db: Db; client: Client; taskQueue: string },
  quietSeconds: number,
): Promise<void> {
  for (const testRunId of await claimUnfinishedTestRuns(deps.db, { quietSeconds, limit: CLAIMED_MAX }))
    await reconcileTestRun(deps, testRunId).catch((error) =>
      console.error(`Reconciling test run ${testRunId} failed:`, error),
    );
}

async function reconcileTestRun(
  deps: { db: Db; client: Client; taskQueue: string },
  testRunId: string,
): Promise<void> {
  let status: string;
  try {
    status = (await deps.client.workflow.getHandle(testRunId).describe()).status.name;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    return startTestRun(deps, testRunId);
  }
  if (!['RUNNING', 'CONTINUED_AS_NEW', 'PAUSED'].includes(status)) await finishTestRun(deps.db, testRunId);
}
