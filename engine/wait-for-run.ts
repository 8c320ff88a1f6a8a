import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import type { InProcessRuns } from '../db/runs/in-process-runs.ts';
import { loadReferences } from '../db/runs/load-references.ts';
import { findOutcome } from '../db/runs/runs.ts';
import type { Json } from '../flow/definition.ts';
import { type RunOutcome, workflowIdOf } from '../flow/run.ts';
import { isPause } from '../flow/tool-calls.ts';
import { type Load, resolveValue, type Value } from '../flow/value.ts';
import type { runFlow } from '../workflows/run-flow.ts';
import type { EngineDeps } from './deps.ts';
import type { RunStart } from './start-run.ts';

const RETRY_MS = 500;
/** A run that this process's worker was given may still be taken over by another one. */
const ASK_AFTER_MS = 5_000;

/**
 * Waits for the end of a run, through restarts of the engine; undefined when `signal` aborted first (the run goes on).
 * Listens before the run has `started`, so that no end in this process is missed; one that a worker `here` has is asked
 * for at the engine only when it takes long, which saves short runs a request.
 */
export async function waitForRun(
  deps: EngineDeps,
  run: RunStart,
  started: Promise<{ here: boolean }>,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    const ended = waitHere(deps.inProcessRuns, run.callId, either);
    if ((await started).here && deps.inProcessRuns) {
      const soon = setTimeout(ASK_AFTER_MS, undefined, { signal: either }).catch(() => undefined);
      const outcome = await Promise.race([ended, soon]);
      if (outcome) return outcome;
    }
    return await Promise.race([ended, askEngine(deps, run, either)]);
  } finally {
    over.abort();
  }
}

/** Never settles where no worker runs in this process; undefined when `signal` aborted. */
function waitHere(
  inProcessRuns: InProcessRuns | undefined,
  executionId: string,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  if (!inProcessRuns) return new Promise(() => undefined);
  return once(inProcessRuns.ends, executionId, { signal }).then(
    ([outcome]: RunOutcome[]) => outcome,
    () => undefined,
  );
}

/** A run that ended without its workflow, by an operator's hand, is read from its row. */
async function askEngine(
  { db, client }: EngineDeps,
  run: RunStart,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  const handle = client.workflow.getHandle<typeof runFlow>(workflowIdOf(run));
  while (!signal.aborted) {
    try {
      const reply = await client.withAbortSignal(signal, () => handle.result());
      return isPause(reply)
        ? { status: 'tool_calls_required', pause: reply.paused }
        : { status: 'completed', result: reply };
    } catch (error) {
      if (signal.aborted) return undefined;
      const outcome = await findOutcome(db, run.callId).catch((databaseError: unknown) =>
        console.error(`Looking for the end of run ${run.callId}: ${databaseError}`),
      );
      if (outcome) return outcome;
      // Ended but not recorded: the reconciler does that. Not ended: the engine was away.
      if (!(error instanceof WorkflowFailedError)) console.error(`Waiting for run ${run.callId}: ${error}`);
      await setTimeout(RETRY_MS);
    }
  }
  return undefined;
}

/** A result as the caller gets it. */
export function readResult(db: Db, executionId: string, result: Value): Promise<Json> {
  return resolveValue(result, referenceLoader(db, executionId));
}

/** Reads what the values of a run refer to. */
export function referenceLoader(db: Db, executionId: string): Load {
  return (refs) => loadReferences(db, executionId, refs);
}
