import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { loadStored } from '../db/block-runs.ts';
import type { Db } from '../db/connect.ts';
import { findRun } from '../db/runs.ts';
import type { Json } from '../flow/definition.ts';
import type { RunOutcome } from '../flow/run.ts';
import { resolveValue, type Value } from '../flow/value.ts';
import type { runFlow } from '../workflows/run-flow.ts';

const RETRY_MS = 500;

/**
 * Waits for the end of a run, through restarts of the engine, until `signal` aborts (then it rejects; the run goes on).
 * A run that ended without its workflow, by an operator's hand, is read from its row.
 */
export async function waitForRun(
  db: Db,
  handle: WorkflowHandle<typeof runFlow>,
  flowId: string,
  signal: AbortSignal,
): Promise<RunOutcome> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return { status: 'completed', result: await handle.result() };
    } catch (error) {
      const run = await findRun(db, flowId, handle.workflowId);
      if (run?.status === 'failed' && run.error) return { status: 'failed', error: run.error };
      if (run?.status === 'completed' && run.result) return { status: 'completed', result: run.result };
      // Ended but not recorded: the reconciler does that. Not ended: the engine was away.
      if (!(error instanceof WorkflowFailedError))
        console.error(`Waiting for run ${handle.workflowId}:`, String(error));
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** A result as the caller gets it. */
export function readResult(db: Db, executionId: string, result: Value): Promise<Json> {
  return resolveValue(result, (ref) => loadStored(db, executionId, ref));
}
