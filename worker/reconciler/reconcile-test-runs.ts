// No test run is ever lost: finds unfinished test runs whose workflow is missing or has ended.
import { finishTestRun } from '../../db/test-runs/test-runs.ts';
import type { EngineDeps } from '../../temporal/deps.ts';
import { startTestRun } from '../../temporal/start-run.ts';
import { cancelOpenWorkflow } from './cancel-open-workflow.ts';
import { type Reconciled, reconcileUnfinished } from './reconcile-unfinished.ts';

/** Repairs all unfinished test runs older than `quietSeconds`; the runs of their cases are left to `reconcileRuns`. */
export function reconcileTestRuns(
  deps: EngineDeps,
  quietSeconds: number,
  signal?: AbortSignal,
): Promise<void> {
  const work = { repair: (run: Reconciled) => reconcileTestRun(deps, run) };
  return reconcileUnfinished(deps, 'test_run', quietSeconds, work, signal);
}

async function reconcileTestRun(deps: EngineDeps, run: Reconciled): Promise<void> {
  const { id, state, cancelled } = run;
  if (state === 'open' && (await cancelOpenWorkflow(deps.client, run))) return;
  if (state === 'missing' && !cancelled) await startTestRun(deps, id);
  else await finishTestRun(deps.db, id);
}
