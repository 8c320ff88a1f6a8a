import { startRun } from '../../engine/start-run.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware } from '../http/context.ts';
import { readerSignal } from './event-stream.ts';
import type { AcceptedCall } from './store-call.ts';

/** Waits for a place for the flow's organization. The request holds it until it is answered or starts its run, which then holds it. */
export function admit({ admission, cutOff }: ApiDeps): ApiMiddleware {
  return async function admit(ctx, next) {
    const { organizationId } = ctx.state.flow;
    ctx.state.place = await admission.enter(organizationId, () => readerSignal(ctx, cutOff));
    try {
      await next();
    } finally {
      ctx.state.place?.end();
    }
  };
}

/**
 * Starts the workflow of an accepted run, as `startRun` does. When this process's worker has the run, the run holds the
 * request's place until it ends or waits: no more runs are started than the worker carries out at once.
 */
export async function startInPlace(
  deps: ApiDeps,
  ctx: ApiContext,
  run: AcceptedCall,
): Promise<{ here: boolean }> {
  const { place } = ctx.state;
  ctx.state.place = undefined;
  const leave = (place && deps.inProcessRuns?.holdPlace(run.callId, place)) ?? place?.end;
  try {
    const started = await startRun(deps, run);
    if (!started.here) leave?.();
    return started;
  } catch (error) {
    leave?.();
    throw error;
  }
}
