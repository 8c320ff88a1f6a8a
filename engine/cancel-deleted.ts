import { cancelLeft, listCancelled } from '../db/upkeep/cancel-deleted.ts';
import { cancelRunWorkflow, cancelTestRunWorkflow } from './cancel-workflow.ts';
import type { EngineDeps } from './deps.ts';

/** Workflows that are told of one deletion; the reconciler tells the others. */
const TOLD_MAX = 10_000;
const AT_ONCE = 10;

/**
 * Ends the work of deleted projects. When it resolves nothing more is charged for it; their workflows are told after
 * that, without anybody waiting, and those that cannot be are by the reconciler.
 */
export async function cancelDeleted(deps: EngineDeps, projectIds: string[]): Promise<void> {
  await cancelLeft(deps.db, { projectIds });
  void tellEngine(deps, projectIds).catch((error: unknown) =>
    console.error(`Workflows of deleted projects are cancelled by the reconciler: ${error}`),
  );
}

async function tellEngine(deps: EngineDeps, projectIds: string[]): Promise<void> {
  const { runs, testRuns } = await listCancelled(deps.db, projectIds, TOLD_MAX);
  const calls = [
    // First, so that they begin no further case.
    ...testRuns.map((id) => () => cancelTestRunWorkflow(deps, id)),
    ...runs.map((run) => () => cancelRunWorkflow(deps, run)),
  ].values();
  let reachable = true;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const call of calls) {
        if (!reachable || deps.stopping?.aborted) return;
        if (!(await call())) reachable = false;
      }
    }),
  );
}
