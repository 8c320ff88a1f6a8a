import { findKeyedRun } from '../db/idempotency-keys.ts';
import { findRunStarts } from '../db/runs.ts';
import type { RunMode } from '../db/schema.ts';
import { throughOutage } from '../db/through-outage.ts';
import { listBlocks } from '../flow/plan.ts';
import type { RunOutcome } from '../flow/run.ts';
import { type AcceptedRun, acceptRun } from './accept-run.ts';
import type { ApiContext, ApiDeps } from './context.ts';

/**
 * Accepts a run; or, where the request's Idempotency-Key stands for one already, answers that run as it is now and
 * says so with `Idempotent-Replayed`. Throws IDEMPOTENCY_KEY_REUSED, and whatever a run can be refused for.
 */
export async function acceptOnce(deps: ApiDeps, ctx: ApiContext, mode: RunMode): Promise<AcceptedRun> {
  for (;;) {
    const earlier = await findEarlierRun(deps, ctx);
    if (earlier) {
      ctx.set('Idempotent-Replayed', 'true');
      return earlier;
    }
    const run = await acceptRun(deps, ctx, mode);
    if (run) return run;
  }
}

type StoredRun = Awaited<ReturnType<typeof findRunStarts>>[number];

async function findEarlierRun({ db }: ApiDeps, ctx: ApiContext): Promise<AcceptedRun | undefined> {
  const key = ctx.state.idempotencyKey;
  const executionId = key && (await throughOutage(() => findKeyedRun(db, key)));
  const [run] = executionId ? await throughOutage(() => findRunStarts(db, [executionId])) : [];
  return run && { ...run, blockCount: listBlocks(run.definition).length, outcome: toOutcome(run) };
}

function toOutcome({ status, result, error }: StoredRun): RunOutcome | undefined {
  if (status === 'failed' && error) return { status, error };
  if (status === 'completed' && result) return { status, result };
  return undefined;
}
