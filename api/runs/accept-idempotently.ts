import { findRunStarts } from '../../db/runs/find-run-starts.ts';
import { findKeyedRun } from '../../db/runs/idempotency-keys.ts';
import { toOutcome } from '../../db/runs/runs.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext } from '../http/context.ts';
import { type AcceptedRun, holdModelKeys } from './accept-run.ts';

/**
 * Accepts a run with `accept`; or, where the request's Idempotency-Key stands for one already, answers that run as it is
 * now and says so with `Idempotent-Replayed`. Throws IDEMPOTENCY_KEY_REUSED, and whatever a run can be refused for.
 */
export async function acceptIdempotently(
  deps: ApiDeps,
  ctx: ApiContext,
  accept: () => Promise<AcceptedRun | undefined>,
): Promise<AcceptedRun> {
  for (;;) {
    const run = (await findEarlierRun(deps, ctx)) ?? (await accept());
    if (run) return run;
  }
}

async function findEarlierRun(deps: ApiDeps, ctx: ApiContext): Promise<AcceptedRun | undefined> {
  const key = ctx.state.idempotencyKey;
  const callId = key && (await findKeyedRun(deps.db, key));
  return callId ? replay(deps, ctx, callId) : undefined;
}

/**
 * The run that this request was answered with before, as it is now; undefined when there is none. The model keys that
 * the request brings are held again, should they be gone.
 */
export async function replay(
  deps: ApiDeps,
  ctx: ApiContext,
  callId: string,
): Promise<AcceptedRun | undefined> {
  const run = await findAcceptedRun(deps, callId);
  if (!run) return undefined;
  ctx.set('Idempotent-Replayed', 'true');
  if (!run.outcome) await holdModelKeys(deps, ctx, callId);
  return run;
}

/** A run, or a continuation of one, that was accepted before, as it is now. */
export async function findAcceptedRun({ db }: ApiDeps, callId: string): Promise<AcceptedRun | undefined> {
  const [run] = await findRunStarts(db, [callId]);
  return run && { ...run, blockCount: listBlocks(run.definition).length, outcome: toOutcome(run) };
}
