import { findRunStarts } from '../../db/runs/find-run-starts.ts';
import { findKeyedRun } from '../../db/runs/idempotency-keys.ts';
import { toOutcome } from '../../db/runs/runs.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext } from '../http/context.ts';
import { type AcceptedCall, holdModelKeys } from './store-call.ts';

/**
 * Accepts a call with `accept`. When the request's Idempotency-Key stands for a call already, returns that one as it is
 * now and sets `Idempotent-Replayed`. Throws IDEMPOTENCY_KEY_REUSED, and whatever a run can be refused for.
 */
export async function acceptIdempotently(
  deps: ApiDeps,
  ctx: ApiContext,
  accept: () => Promise<AcceptedCall | undefined>,
): Promise<AcceptedCall> {
  for (;;) {
    const run = (await findEarlierCall(deps, ctx)) ?? (await accept());
    if (run) return run;
  }
}

async function findEarlierCall(deps: ApiDeps, ctx: ApiContext): Promise<AcceptedCall | undefined> {
  const key = ctx.state.idempotencyKey;
  const callId = key && (await findKeyedRun(deps.db, key));
  return callId ? replay(deps, ctx, callId) : undefined;
}

/**
 * Returns the call that an earlier, equal request was answered with, as it is now; undefined when there is none. Holds
 * the request's model keys again, in case they are gone.
 */
export async function replay(
  deps: ApiDeps,
  ctx: ApiContext,
  callId: string,
): Promise<AcceptedCall | undefined> {
  const run = await findAcceptedCall(deps, callId);
  if (!run) return undefined;
  ctx.set('Idempotent-Replayed', 'true');
  if (!run.outcome) await holdModelKeys(deps, ctx, callId);
  return run;
}

/** Finds a call that was accepted before, as it is now. */
export async function findAcceptedCall({ db }: ApiDeps, callId: string): Promise<AcceptedCall | undefined> {
  const [run] = await findRunStarts(db, [callId]);
  return run && { ...run, blockCount: listBlocks(run.definition).length, outcome: toOutcome(run) };
}
