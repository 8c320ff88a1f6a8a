import { cancelLeft, listCancelled } from '../db/upkeep/cancel-of-deleted.ts';
import { log } from '../platform/observability/log.ts';
import { cancelEach } from './cancel-each.ts';
import { cancelRunWorkflow, cancelTestRunWorkflow } from './cancel-workflow.ts';
import type { EngineDeps } from './deps.ts';

/** Workflows that are cancelled for one deletion; the reconciler cancels the others. */
const CANCELLED_MAX = 10_000;

/**
 * Ends the work of deleted projects. Nothing more is charged for them once it resolves. Workflows are cancelled in the
 * background; the reconciler cancels those that remain.
 */
export async function cancelDeleted(deps: EngineDeps, projectIds: string[]): Promise<void> {
  await cancelLeft(deps.db, { projectIds });
  void cancelWorkflows(deps, projectIds).catch((error: unknown) =>
    log.warn({ err: error }, 'Workflows of deleted projects are left to the reconciler to cancel.'),
  );
}

async function cancelWorkflows(deps: EngineDeps, projectIds: string[]): Promise<void> {
  const { runs, testRuns } = await listCancelled(deps.db, projectIds, CANCELLED_MAX);
  const cancellations = [
    // Test runs first, so that they begin no further case.
    ...testRuns.map((id) => () => cancelTestRunWorkflow(deps, id)),
    ...runs.map((call) => () => cancelRunWorkflow(deps, call)),
  ];
  await cancelEach(cancellations, deps.stopping);
}
