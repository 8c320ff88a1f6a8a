import { findKeyedRun } from '../db/idempotency-keys.ts';
import { findRunStarts } from '../db/run-starts.ts';
import { toOutcome } from '../db/runs.ts';
import { throughOutage } from '../db/through-outage.ts';
import { listBlocks } from '../flow/plan.ts';
import type { AcceptedRun } from './accept-run.ts';
import type { ApiContext, ApiDeps } from './context.ts';

/**
 * Accepts a run with `accept`; or, where the request's Idempotency-Key stands for one already, answers that run as it is
 * now and says so with `Idempotent-Replayed`. Throws IDEMPOTENCY_KEY_REUSED, and whatever a run can be refused for.
 */
export async function acceptOnce(
  deps: ApiDeps,
  ctx: ApiContext,
  accept: () => Promise<AcceptedRun | undefined>,
): Promise<AcceptedRun> {
  for (;;) {
    const earlier = await findEarlierRun(deps, ctx);
    if (earlier) {
      ctx.set('Idempotent-Replayed', 'true');
      return earlier;
    }
    const run = await accept();
    if (run) return run;
  }
}

async function findEarlierRun(deps: ApiDeps, ctx: ApiContext): Promise<AcceptedRun | undefined> {
  const key = ctx.state.idempotencyKey;
  const executionId = key && (await throughOutage(() => findKeyedRun(deps.db, key)));
  return executionId ? findAcceptedRun(deps, executionId) : undefined;
}

/** A run, or a continuation of one, that was accepted before, as it is now. */
export async function findAcceptedRun(
  { db }: ApiDeps,
  executionId: string,
): Promise<AcceptedRun | undefined> {
  const [run] = await throughOutage(() => findRunStarts(db, [executionId]));
  return run && { ...run, blockCount: listBlocks(run.definition).length, outcome: toOutcome(run) };
}
