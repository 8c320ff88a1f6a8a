// Idempotent acceptance of calls. calls/ checks and stores the calls of runs (a run, a step, a resume, a repeat);
// temporal/ then starts them.
import { findCall } from '../../../db/runs/find-run-starts.ts';
import { findKeyedRun } from '../../../db/runs/idempotency-keys.ts';
import { toOutcome } from '../../../db/runs/runs.ts';
import { listBlocks } from '../../../flow/plan.ts';
import type { AcceptDeps } from '../../deps.ts';
import type { CallRequest } from './call-request.ts';
import { loadDefinition } from './load-definition.ts';
import { type AcceptedCall, holdModelKeys } from './store-call.ts';

/**
 * Accepts a call with `accept`. When the Idempotency-Key belongs to an earlier call, returns the present state of
 * that call, marked as replayed. Throws IDEMPOTENCY_KEY_REUSED, and every error of a run.
 */
export async function acceptIdempotently<Body>(
  deps: AcceptDeps,
  request: CallRequest<Body>,
  accept: (request: CallRequest<Body>) => Promise<AcceptedCall | undefined>,
): Promise<AcceptedCall> {
  for (;;) {
    const run = (await findEarlierCall(deps, request)) ?? (await accept(request));
    if (run) return run;
  }
}

async function findEarlierCall(
  deps: AcceptDeps,
  request: CallRequest<unknown>,
): Promise<AcceptedCall | undefined> {
  const key = request.idempotencyKey;
  const callId = key && (await findKeyedRun(deps.db, key));
  return callId ? replay(deps, request, callId) : undefined;
}

/**
 * Returns the call that an earlier, equal request created, in its present state; undefined when there is none. Stores
 * the request's model keys again, in case they are gone.
 */
export async function replay(
  deps: AcceptDeps,
  request: Pick<CallRequest<unknown>, 'modelKeys' | 'flow' | 'endLargeWork'>,
  callId: string,
): Promise<AcceptedCall | undefined> {
  const run = await findAcceptedCall(deps, callId, request.endLargeWork);
  if (!run) return undefined;
  if (!run.outcome) await holdModelKeys(deps, request, callId);
  return { ...run, replayed: true };
}

/** Finds an accepted call in its present state. Loads its version as `loadDefinition` does. */
export async function findAcceptedCall(
  deps: Pick<AcceptDeps, 'db' | 'definitions'>,
  callId: string,
  endLargeWork: CallRequest<unknown>['endLargeWork'] = undefined,
): Promise<AcceptedCall | undefined> {
  const run = await findCall(deps.db, callId);
  if (!run) return undefined;
  const definition = await loadDefinition(deps, run.flowVersionId, endLargeWork);
  return { ...run, definition, blockCount: listBlocks(definition).length, outcome: toOutcome(run) };
}
