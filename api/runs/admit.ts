import { describeEngineError } from '../../engine/describe-engine-error.ts';
import { startRun } from '../../engine/start-run.ts';
import type { Place } from '../../fairness/place.ts';
import { log } from '../../observability/log.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, ApiState } from '../http/context.ts';
import { readerSignal } from '../http/reader-signal.ts';
import type { AcceptedCall } from './store-call.ts';

/**
 * Waits for a place for the flow's organization. The request holds it until it is answered or starts its run, which then holds
 * it. A patient request, which does not wait for its run, lets the organization's others go first.
 */
export function admit(
  { admission, cutOff, largeValues }: ApiDeps,
  options?: { patient: boolean },
): ApiMiddleware {
  return async function admit(ctx, next) {
    const { organizationId } = ctx.state.flow;
    largeValues.presence.note(organizationId);
    ctx.state.place = await admission.enter(organizationId, () => readerSignal(ctx.res, cutOff), options);
    try {
      await next();
    } finally {
      ctx.state.place?.end();
    }
  };
}

/** Takes a request's place over from it, for `startInPlace`. */
export function takePlace(state: Pick<ApiState, 'place'>): Place | undefined {
  const { place } = state;
  state.place = undefined;
  return place;
}

/**
 * Starts the workflow of an accepted run, as `startRun` does. When this process's worker has the run, the run holds the
 * place until it ends or waits: no more runs are started than the worker carries out at once. A start that fails is logged:
 * the run is stored, and the reconciler starts it.
 */
export async function startInPlace(
  deps: ApiDeps,
  run: AcceptedCall,
  place: Place | undefined,
): Promise<{ here: boolean }> {
  const leave = (place && deps.inProcessRuns?.holdPlace(run.callId, place)) ?? place?.end;
  try {
    // An eager start would come to this process's version, whatever share of runs that is to get.
    const started = await startRun(deps, run, { eagerly: deps.config.deployment === undefined });
    if (!started.here) leave?.();
    return started;
  } catch (error) {
    leave?.();
    log.warn(
      { execution_id: run.executionId, reason: describeEngineError(error) },
      'A run could not be started yet.',
    );
    throw error;
  }
}
