import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import type { InProcessRuns } from '../db/runs/in-process-runs.ts';
import { findOutcome } from '../db/runs/runs.ts';
import { type CallIds, type RunOutcome, workflowIdOf } from '../flow/run.ts';
import { isPause } from '../flow/tool-calls.ts';
import { log } from '../observability/log.ts';
import type { runFlow } from '../workflows/run-flow.ts';
import type { EngineDeps } from './deps.ts';
import { describeEngineError } from './describe-engine-error.ts';

/** Between two questions about a call, the first and the longest: an engine that refuses is asked by thousands at once. */
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 5_000;
/** A call that this process's worker was given may still be taken over by another worker. */
const ASK_AFTER_MS = 5_000;

/**
 * Waits for the end of a call of a run, through restarts of the engine; undefined when `signal` aborts first (the run goes
 * on). Listens before the call has `started`, so that no end in this process is missed. Asks the engine about a call that this
 * process's own worker carries out (`here`) only when it takes long, which saves short runs a request.
 */
export async function waitForRun(
  deps: EngineDeps,
  call: CallIds,
  started: Promise<{ here: boolean }>,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    const ended = waitHere(deps.inProcessRuns, call.callId, either);
    if ((await started).here && deps.inProcessRuns) {
      const soon = setTimeout(ASK_AFTER_MS, undefined, { signal: either }).catch(() => undefined);
      const outcome = await Promise.race([ended, soon]);
      if (outcome) return outcome;
    }
    return await Promise.race([ended, waitAtEngine(deps, call, either)]);
  } finally {
    over.abort();
  }
}

/** Waits for the end of a call in this process: for ever where no worker runs in it; undefined when `signal` aborts. */
function waitHere(
  inProcessRuns: InProcessRuns | undefined,
  callId: string,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  if (!inProcessRuns) return new Promise(() => undefined);
  return once(inProcessRuns.ends, callId, { signal }).then(
    ([outcome]: RunOutcome[]) => outcome,
    () => undefined,
  );
}

/** Waits for a call's workflow. A call that ended without it, because an operator stopped it, is read from its row. */
async function waitAtEngine(
  { db, client }: EngineDeps,
  call: CallIds,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  let isTold = false;
  // Once for each call: many wait through an outage.
  const tell = (reason: string, message: string) => {
    if (!isTold) log.warn({ call_id: call.callId, reason }, message);
    isTold = true;
  };
  const handle = client.workflow.getHandle<typeof runFlow>(workflowIdOf(call));
  for (let delay = RETRY_MIN_MS; !signal.aborted; delay = Math.min(2 * delay, RETRY_MAX_MS)) {
    try {
      const reply = await client.withAbortSignal(signal, () => handle.result());
      return isPause(reply)
        ? { status: 'tool_calls_required', pause: reply.paused }
        : { status: 'completed', result: reply };
    } catch (error) {
      if (signal.aborted) return undefined;
      const outcome = await findOutcome(db, call.callId).catch((databaseError: unknown) =>
        tell(String(databaseError), 'The outcome of a call could not be read yet.'),
      );
      if (outcome) return outcome;
      // WorkflowFailedError: it has ended, and the reconciler will record that. Any other error: the engine was away.
      if (!(error instanceof WorkflowFailedError))
        tell(describeEngineError(error), 'The engine could not be asked about a call yet.');
      await setTimeout(delay, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}
