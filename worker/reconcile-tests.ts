// Test runs too are never lost: finds those that have not ended and whose workflow is missing or has.
import type { Client } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { finishTestRun } from '../db/test-runs/test-runs.ts';
import { startTestRun } from '../engine/start-test-run.ts';
import { type Reconciled, reconcileUnfinished } from './reconcile-unfinished.ts';
import { cancelOpenWorkflow } from './with-open-workflow.ts';

type Deps = { db: Db; client: Client; taskQueue: string };

/** One look at all unfinished test runs that are older than `quietSeconds`; their flows' runs are `reconcileRuns`'s. */
export function reconcileTests(deps: Deps, quietSeconds: number, signal?: AbortSignal): Promise<void> {
  return reconcileUnfinished(deps, 'test_run', quietSeconds, (run) => reconcileTestRun(deps, run), signal);
}

async function reconcileTestRun(deps: Deps, { id, state, cancelled }: Reconciled): Promise<void> {
  if (state === 'open') return cancelOpenWorkflow(deps.client, id);
  if (state === 'missing' && !cancelled) await startTestRun(deps, id);
  else await finishTestRun(deps.db, id);
}
