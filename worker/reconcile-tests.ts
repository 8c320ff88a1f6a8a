// Test runs too are never lost: finds those that have not ended and whose workflow is missing or has.
import type { Client } from '@temporalio/client';
import { startTestRun } from '../api/start-test-run.ts';
import { claimUnfinished } from '../db/claim-unfinished.ts';
import type { Db } from '../db/connect.ts';
import { finishTestRun } from '../db/test-runs.ts';
import { workflowState } from './workflow-state.ts';

const CLAIMED_MAX = 100;

/** One look at unfinished test runs that are older than `quietSeconds`; their flows' runs are `reconcile`'s. */
export async function reconcileTests(
  deps: { db: Db; client: Client; taskQueue: string },
  quietSeconds: number,
): Promise<void> {
  for (const testRunId of await claimUnfinished(deps.db, 'test_run', { quietSeconds, limit: CLAIMED_MAX }))
    await reconcileTestRun(deps, testRunId).catch((error) =>
      console.error(`Reconciling test run ${testRunId} failed:`, error),
    );
}

async function reconcileTestRun(
  deps: { db: Db; client: Client; taskQueue: string },
  testRunId: string,
): Promise<void> {
  const state = await workflowState(deps.client, testRunId);
  if (state === 'missing') await startTestRun(deps, testRunId);
  else if (state !== 'open') await finishTestRun(deps.db, testRunId);
}
