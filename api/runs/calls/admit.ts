import { findRunLimits } from '../../../db/tenants/limits.ts';
import { SMALL_BYTES } from '../../../platform/limits/gates.ts';
import type { EnterPlace, Place } from '../../../platform/limits/place.ts';
import { isEngineAway, logEngineFailure } from '../../../temporal/ask-engine.ts';
import { GRPC, grpcCodeOf } from '../../../temporal/engine-errors.ts';
import { startRun } from '../../../temporal/start-run.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ApiMiddleware, ApiState } from '../../http/context.ts';
import { readerSignal } from '../../http/reader-signal.ts';
import { flowNotFound } from './load-flow.ts';
import { requireStillAllowed } from './require-still-allowed.ts';
import type { AcceptedCall } from './store-call.ts';

/** A request whose flow was looked up so long ago is let in anew. */
const WAITED_LONG_MS = 1_000;
/** For so long after a start that the engine did not answer, or until one works, no start holds up others. */
const SILENT_MS = 15_000;

let silentUntil = 0;

/**
 * Waits for a place for the flow's organization. The request holds it until it is answered or starts its run, which then holds
 * it. A patient request, which does not wait for its run, lets the organization's others go first.
 */
export function admit(deps: ApiDeps, options?: { patient: boolean }): ApiMiddleware {
  const { cutOff, largeValues } = deps;
  return async function admit(ctx, next) {
    largeValues.presence.note(ctx.state.flow.organizationId);
    const body = await ctx.state.received?.catch(() => undefined);
    const bytes = smallBytes(body?.bytes.length ?? 0);
    const gone = () => readerSignal(ctx.res, cutOff);
    ctx.state.place = await enterAsCaller(deps, ctx.state, gone, { ...options, bytes });
    try {
      await next();
    } finally {
      ctx.state.place?.end();
    }
  };
}

type Entrant = Pick<ApiState, 'principal' | 'flow'>;

/** Waits for a place for the flow's organization, as `admit` does. The caller ends it. */
export async function enterAsCaller(
  deps: ApiDeps,
  entrant: Entrant,
  gone: () => AbortSignal,
  options?: Parameters<EnterPlace>[2],
): Promise<Place> {
  const place = await deps.admission.enter(entrant.flow.organizationId, gone, options);
  try {
    if (performance.now() - entrant.flow.foundAt >= WAITED_LONG_MS) await letInAnew(deps, entrant);
    return place;
  } catch (error) {
    place.end();
    throw error;
  }
}

/** Returns the bytes of a body that count while it waits: larger ones are bounded already, since they have taken their bytes. */
export function smallBytes(bytes: number): number {
  return bytes < SMALL_BYTES ? bytes : 0;
}

/**
 * Looks again at what may have changed while a request waited: the API key or the membership that lets its caller in, whether
 * the flow is there, and what the organization may run. So a key that is revoked begins nothing any more, however many requests
 * it has in line.
 */
async function letInAnew(deps: ApiDeps, { principal, flow }: Entrant): Promise<void> {
  await requireStillAllowed(deps, principal, flow.organizationId);
  const limits = await findRunLimits(deps.db, flow.flowId);
  if (!limits) throw flowNotFound();
  Object.assign(flow, limits);
}

/** Takes a request's place over from it, for `startInPlace`. */
export function takePlace(state: Pick<ApiState, 'place'>): Place | undefined {
  const { place } = state;
  state.place = undefined;
  return place;
}

/**
 * Starts the workflow of an accepted run, as `startRun` does. When this process's worker has the run, the run holds the
 * place until it ends or waits: no more runs are started than the worker carries out at once. While the engine does not answer,
 * the place is given back first: nobody else waits until this start fails. A start that fails is logged: the run is stored, and
 * the reconciler starts it.
 */
export async function startInPlace(
  deps: ApiDeps,
  run: AcceptedCall,
  place: Place | undefined,
): Promise<{ here: boolean }> {
  if (performance.now() < silentUntil) place?.end();
  const leave = (place && deps.inProcessRuns?.holdPlace(run.callId, place)) ?? place?.end;
  try {
    // An eager start would come to this process's version, whatever share of runs that is to get.
    const started = await startRun(deps, run, { eagerly: deps.config.deployment === undefined });
    silentUntil = 0;
    if (!started.here) leave?.();
    return started;
  } catch (error) {
    leave?.();
    // An engine that is busy answers at once.
    if (isEngineAway(error) && grpcCodeOf(error) !== GRPC.resourceExhausted)
      silentUntil = performance.now() + SILENT_MS;
    logEngineFailure(error, { execution_id: run.executionId }, 'A run could not be started yet.');
    throw error;
  }
}
