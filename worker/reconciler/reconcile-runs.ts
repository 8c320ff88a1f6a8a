// No accepted run is ever lost: finds runs whose row says `started` and whose workflow is missing or has ended.
import { findRunStarts } from '../../db/runs/find-run-starts.ts';
import { CANCELLED } from '../../flow/run.ts';
import { log } from '../../platform/observability/log.ts';
import { endRun } from '../../temporal/cancel-workflow.ts';
import type { EngineDeps } from '../../temporal/deps.ts';
import { startRun } from '../../temporal/start-run.ts';
import { cancelOpenWorkflow } from './cancel-open-workflow.ts';
import { type Reconciled, reconcileUnfinished } from './reconcile-unfinished.ts';

const TERMINATED =
  "An operator terminated the run's workflow in Temporal before its result was recorded. To stop a run, cancel it: POST …/jobs/{executionId}/cancel or weir runs cancel.";

/**
 * Repairs all unfinished runs older than `quietSeconds`: starts a missing workflow, records the end of a run whose workflow
 * was terminated or timed out, and cancels a run whose caller asked for it while the engine was away. One that no worker
 * ends then, as on a task queue that none polls, is terminated.
 */
export async function reconcileRuns(
  deps: EngineDeps,
  quietSeconds: number,
  signal?: AbortSignal,
): Promise<void> {
  const started = new Set<string>();
  const work = {
    repair: async (run: Reconciled) => {
      if (await reconcileRun(deps, run)) started.add(run.id);
    },
  };
  try {
    await reconcileUnfinished(deps, 'run', quietSeconds, work, signal);
  } finally {
    const [execution_id] = started;
    const { namespace } = deps.client.options;
    if (execution_id !== undefined)
      log.info(
        { count: started.size, execution_id, namespace },
        'Runs had no workflow in this namespace, and were started there.',
      );
  }
}

/** Repairs one of them; returns whether it started its workflow. */
async function reconcileRun(deps: EngineDeps, run: Reconciled): Promise<boolean> {
  const { db, client, taskQueue } = deps;
  const { id, cancelled } = run;
  if (run.state === 'open' && (await cancelOpenWorkflow(client, run))) return false;
  // Its workflow is gone: terminated just now, or in the engine's list alone.
  const state = run.state === 'open' ? 'missing' : run.state;
  if (state === 'missing' && !cancelled) {
    const [start] = await findRunStarts(db, [id]);
    // Not eagerly, so that runs which already wait for a worker come first.
    if (start?.status !== 'started') return false;
    await startRun({ client, taskQueue }, start, { eagerly: false });
    return true;
  }
  const reason =
    state === 'terminated'
      ? TERMINATED
      : `The run's workflow ended as ${state} before its result was recorded.`;
  const code = state === 'cancelled' || state === 'terminated' ? 'CANCELLED' : 'INTERNAL_ERROR';
  // One that was cancelled may have been terminated by an earlier round, which could not record its end.
  const isCancelled = cancelled && ['missing', 'terminated', 'cancelled'].includes(state);
  const ended = await endRun(deps, id, {
    status: 'failed',
    error: isCancelled ? CANCELLED : { code, message: reason, reason: 'error' },
  });
  if (ended && !isCancelled)
    log.warn(
      { execution_id: run.continues ?? id, reason },
      'A run without its workflow was ended as failed.',
    );
  return false;
}
