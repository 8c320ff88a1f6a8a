import type { Place } from '../../../platform/limits/place.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ApiContext } from '../../http/context.ts';
import { traceIdField } from '../run-shapes/trace-id-field.ts';
import { startInPlace, takePlace } from './admit.ts';
import type { AcceptedCall } from './store-call.ts';

/** Starts an accepted job and answers 202. Answers the same for a repeated request. */
export async function answerJob(deps: ApiDeps, ctx: ApiContext, job: AcceptedCall): Promise<void> {
  const { executionId, flowId, blockCount } = job;
  if (!job.outcome) await startSoon(deps, job, takePlace(ctx.state));
  ctx.status = 202;
  ctx.body = { executionId, status: 'started', flowId, blockCount, ...traceIdField(job.trace) };
}

/** Starts an accepted run as `startInPlace` does. If its workflow cannot start now, the reconciler starts it. */
export async function startSoon(deps: ApiDeps, run: AcceptedCall, place: Place | undefined): Promise<void> {
  await startInPlace(deps, run, place).catch(() => undefined);
}
