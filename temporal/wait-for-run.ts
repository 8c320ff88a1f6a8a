import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { InProcessRuns } from '../activities/in-process-runs.ts';
import { findOutcome } from '../db/runs/runs.ts';
import { type CallIds, type RunOutcome, workflowIdOf } from '../flow/run.ts';
import { log } from '../platform/observability/log.ts';
import { logEngineFailure } from './ask-engine.ts';
import type { EngineDeps } from './deps.ts';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/** The questions that are under way, by workflow. */
const questions = new WeakMap<Client, Map<string, Promise<boolean>>>();

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
    // Without a reason, an error with a stack would be made for each call.
    over.abort('over');
  }
}

/** Waits for the end of a call in this process, which comes only where a worker runs in it; undefined when `signal` aborts. */
function waitHere(
  inProcessRuns: InProcessRuns | undefined,
  callId: string,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  if (!inProcessRuns) return once(signal, 'abort').then(() => undefined);
  return once(inProcessRuns.ends, callId, { signal }).then(
    ([outcome]: RunOutcome[]) => outcome,
    () => undefined,
  );
}

/** Waits for the end of a call's workflow, and reads how the call ended from its row, which has it by then. */
async function waitAtEngine(
  { db, client }: EngineDeps,
  call: CallIds,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  let isLogged = false;
  // Many wait through an outage.
  const logOnce = (write: () => void) => {
    if (!isLogged) write();
    isLogged = true;
  };
  const fields = { call_id: call.callId };
  for (let delay = RETRY_MIN_MS; !signal.aborted; delay = Math.min(2 * delay, RETRY_MAX_MS)) {
    const failure = await untilClosed(client, workflowIdOf(call), signal).catch((error: unknown) => ({
      error,
    }));
    if (signal.aborted) return undefined;
    const outcome = await findOutcome(db, call.callId).catch((error: unknown) =>
      logOnce(() =>
        log.warn({ ...fields, reason: String(error) }, 'The outcome of a call could not be read yet.'),
      ),
    );
    if (outcome) return outcome;
    // A workflow that has ended without an outcome was stopped by an operator: the reconciler records that.
    if (failure)
      logOnce(() =>
        logEngineFailure(failure.error, fields, 'The engine could not be asked about a call yet.'),
      );
    await setTimeout(delay, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/**
 * Waits until a workflow has ended. Gives up at most 20 s after `signal` aborts. A request to the engine cannot be
 * withdrawn, so all callers of a workflow share one. Rejects when the engine is away.
 */
export async function untilClosed(client: Client, workflowId: string, signal: AbortSignal): Promise<void> {
  const asked = questions.get(client) ?? new Map<string, Promise<boolean>>();
  questions.set(client, asked);
  while (!signal.aborted) {
    const question =
      asked.get(workflowId) ?? isClosedSoon(client, workflowId).finally(() => asked.delete(workflowId));
    asked.set(workflowId, question);
    if (await question) return;
  }
}

/** Whether a workflow has ended; the engine answers when it has, or after about 20 s. */
async function isClosedSoon(client: Client, workflowId: string): Promise<boolean> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    skipArchival: true,
    waitNewEvent: true,
    historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  });
  return Boolean(history?.events?.length);
}
