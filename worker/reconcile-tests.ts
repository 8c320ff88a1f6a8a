// Test runs too are never lost: finds those that have not ended and whose workflow is missing or has.
import { finishTestRun } from '../db/test-runs/test-runs.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { startTestRun } from '../engine/start-test-run.ts';
import { type Reconciled, reconcileUnfinished } from './reconcile-unfinished.ts';
import { cancelOpenWorkflow } from './with-open-workflow.ts';

/** One look at all unfinished test runs that are older than `quietSeconds`; their flows' runs are `reconcileRuns`'s. */
export function reconcileTests(deps: EngineDeps, quietSeconds: number, signal?: AbortSignal): Promise<void> {
  return reconcileUnfinished(deps, 'test_run', quietSeconds, (run) => reconcileTestRun(deps, run), signal);
}

async function reconcileTestRun(deps: EngineDeps, { id, state, cancelled }: Reconciled): Promise<void> {
  if (state === 'open') return cancelOpenWorkflow(deps.client, id);
  if (state === 'missing' && !cancelled) await startTestRun(deps, id);
  else await finishTestRun(deps.db, id);
}
