// Admission of requests that start a run: fair between organizations, and before anything is stored.
import { findRunLimits } from '../../../db/tenants/limits.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { type Permit, PermitRejected, type Priority } from '../../../platform/limits/fair-queue.ts';
import { START_WAIT_MAX_MS } from '../../../platform/limits/gates.ts';
import { isEngineAway, logEngineFailure } from '../../../temporal/ask-engine.ts';
import { GRPC, grpcCodeOf } from '../../../temporal/engine-errors.ts';
import { startRun } from '../../../temporal/start-run.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ApiMiddleware, ApiState } from '../../http/context.ts';
import { acquireUntilClosed } from '../../http/open-requests.ts';
import { readerSignal } from '../../http/reader-signal.ts';
import { receive } from '../../http/receive-body.ts';
import { callerGone, toRejection } from '../../http/request-errors.ts';
import { flowNotFound } from './load-flow.ts';
import { requireStillAllowed } from './require-still-allowed.ts';
import type { AcceptedCall } from './store-call.ts';

/** A request whose flow was looked up so long ago is authorized again. */
const QUEUED_LONG_MS = 1_000;
/** For so long after a start that the engine did not answer, or until one works, no start keeps a permit. */
const SILENT_MS = 15_000;

let silentUntil = 0;

/** Messages of rejected run starts. */
export const START_REJECTED = {
  busy: 'Too many runs wait to be started. Nothing was started: send the request again.',
  full: 'Too many runs of this organization wait to be started',
  deadline: `The run waited ${START_WAIT_MAX_MS / 1_000} s to be started and was not started`,
};

export function serviceStopping(): ServiceError {
  const message = 'This process is stopping. Nothing was started: send the request again.';
  return new ServiceError('SERVICE_STOPPING', message);
}

/**
 * Waits until the body has arrived or is rejected (`readBody` reports that), and acquires a permit to start a run of the flow. The
 * request keeps the permit until it is answered or starts its run; a slow sender keeps none. Requests that do not wait for their
 * run have low priority. `waits`: the request is open until its response is closed.
 */
export function admit(
  deps: ApiDeps,
  {
    priority = 'high',
    hasBody = true,
    waits = false,
  }: { priority?: Priority; hasBody?: boolean; waits?: boolean } = {},
): ApiMiddleware {
  return async function admit(ctx, next) {
    // From here on, the gate of run starts limits the request.
    ctx.state.releaseRequest?.();
    const close = waits ? acquireUntilClosed(deps, ctx, 'call') : undefined;
    const received = hasBody ? receive(deps, ctx) : undefined;
    if (received) ctx.state.received = received;
    await received?.catch(() => undefined);
    try {
      const signal = readerSignal(ctx.res);
      ctx.state.permit = await acquireForCaller(deps, ctx.state, { signal, priority });
      await next();
    } catch (error) {
      close?.();
      throw error;
    } finally {
      ctx.state.permit?.release();
    }
  };
}

/**
 * Acquires a permit to start a run of the organization. Throws RATE_LIMITED or SERVICE_BUSY when the gate rejects the request,
 * and SERVICE_STOPPING or REQUEST_TIMEOUT when the signal aborts.
 */
export async function acquireStart(
  { gates, stopping }: Pick<ApiDeps, 'gates' | 'stopping'>,
  organizationId: string,
  request: { signal: AbortSignal; priority?: Priority },
): Promise<Permit> {
  try {
    return await gates.runStarts.acquire(organizationId, request);
  } catch (error) {
    if (error instanceof PermitRejected) throw toRejection(error, 'waiting', START_REJECTED);
    if (!request.signal.aborted) throw error;
    throw stopping?.aborted ? serviceStopping() : callerGone();
  }
}

/**
 * Acquires such a permit and, after a long wait, authorizes the caller again: a revoked key starts nothing, however many of its
 * requests are queued. Also updates what the organization may run.
 */
export async function acquireForCaller(
  deps: ApiDeps,
  { principal, flow }: Pick<ApiState, 'principal' | 'flow'>,
  request: { signal: AbortSignal; priority?: Priority },
): Promise<Permit> {
  const permit = await acquireStart(deps, flow.organizationId, request);
  if (performance.now() - flow.foundAt < QUEUED_LONG_MS) return permit;
  try {
    await requireStillAllowed(deps, principal, flow.organizationId);
    const limits = await findRunLimits(deps.db, flow.flowId);
    if (!limits) throw flowNotFound();
    Object.assign(flow, limits);
    return permit;
  } catch (error) {
    permit.release();
    throw error;
  }
}

/** Takes the permit out of a request's state, for `startAdmitted`. */
export function takePermit(state: Pick<ApiState, 'permit'>): Permit | undefined {
  const { permit } = state;
  state.permit = undefined;
  return permit;
}

/**
 * Starts the workflow of an accepted run, as `startRun` does. Where the worker of this process has the run, the run keeps the
 * permit until it ends or waits for a model. While the engine does not answer, the permit is released first, so that no other
 * start waits. A failed start is logged: the run is stored, and the reconciler starts it.
 */
export async function startAdmitted(
  deps: ApiDeps,
  run: AcceptedCall,
  permit: Permit | undefined,
): Promise<{ here: boolean }> {
  if (performance.now() < silentUntil) permit?.release();
  if (permit) deps.inProcessRuns?.holdPermit(run.callId, permit);
  try {
    // An eager start would come to this process's version, whatever share of runs that is to get.
    const started = await startRun(deps, run, { eagerly: deps.config.deployment === undefined });
    silentUntil = 0;
    if (!started.here) permit?.release();
    return started;
  } catch (error) {
    permit?.release();
    // An engine that is busy answers at once.
    if (isEngineAway(error) && grpcCodeOf(error) !== GRPC.resourceExhausted)
      silentUntil = performance.now() + SILENT_MS;
    logEngineFailure(error, { execution_id: run.executionId }, 'A run could not be started yet.');
    throw error;
  }
}
