import { setTimeout } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { loadStored } from '../db/block-runs.ts';
import type { Db } from '../db/connect.ts';
import { findRun } from '../db/runs.ts';
import type { Json } from '../flow/definition.ts';
import type { RunOutcome } from '../flow/run.ts';
import { resolveValue, type Value } from '../flow/value.ts';
import type { runFlow } from '../workflows/run-flow.ts';
import type { ApiDeps } from './context.ts';

const RETRY_MS = 500;

/**
 * Waits for the end of a run, through restarts of the engine; undefined when `signal` aborted first (the run goes on).
 * A run that ended without its workflow, by an operator's hand, is read from its row.
 */
export async function waitForRun(
  { db, client }: ApiDeps,
  run: { executionId: string; flowId: string },
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  const handle = client.workflow.getHandle<typeof runFlow>(run.executionId);
  while (!signal.aborted) {
    try {
      return { status: 'completed', result: await client.withAbortSignal(signal, () => handle.result()) };
    } catch (error) {
      if (signal.aborted) return undefined;
      const row = await findRun(db, run.flowId, run.executionId);
      if (row?.status === 'failed' && row.error) return { status: 'failed', error: row.error };
      if (row?.status === 'completed' && row.result) return { status: 'completed', result: row.result };
      // Ended but not recorded: the reconciler does that. Not ended: the engine was away.
      if (!(error instanceof WorkflowFailedError))
        console.error(`Waiting for run ${run.executionId}: ${error}`);
      await setTimeout(RETRY_MS);
    }
  }
  return undefined;
}

/** A result as the caller gets it. */
export function readResult(db: Db, executionId: string, result: Value): Promise<Json> {
  return resolveValue(result, (ref) => loadStored(db, executionId, ref));
}
