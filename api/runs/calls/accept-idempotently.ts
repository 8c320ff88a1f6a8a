// Idempotent acceptance of calls. calls/ checks and stores the calls of runs (a run, a step, a resume, a repeat);
// temporal/ then starts them.
import type { z } from 'zod';
import { findCall } from '../../../db/runs/find-run-starts.ts';
import { findKeyedRun, type IdempotencyKey } from '../../../db/runs/idempotency-keys.ts';
import { toOutcome } from '../../../db/runs/runs.ts';
import { DRAFT_VERSION } from '../../../flow/definition.ts';
import { listBlocks } from '../../../flow/plan.ts';
import { addToLogContext } from '../../../platform/observability/log.ts';
import type { AcceptDeps, ApiDeps } from '../../deps.ts';
import type { ApiContext, ApiMiddleware } from '../../http/context.ts';
import { digestRequest, readIdempotencyKey, withoutNulls } from '../../http/idempotency-key.ts';
import { authorOf, userOf } from '../../http/principal.ts';
import { parseQuery } from '../../http/query.ts';
import { readerSignal } from '../../http/reader-signal.ts';
import type { CallRequest } from './call-request.ts';
import { MODEL_KEY_HEADER, modelKeysParser } from './read-model-keys.ts';
import { type AcceptedCall, PerhapsStored } from './store-call.ts';

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
  return callId ? replay(deps, callId) : undefined;
}

/** Returns the call that an earlier, equal request created, in its present state; undefined when there is none. */
export async function replay(deps: AcceptDeps, callId: string): Promise<AcceptedCall | undefined> {
  const run = await findAcceptedCall(deps, callId);
  return run && { ...run, replayed: true };
}

/** Finds an accepted call in its present state. */
export async function findAcceptedCall(
  deps: Pick<AcceptDeps, 'db' | 'definitions'>,
  callId: string,
): Promise<AcceptedCall | undefined> {
  const run = await findCall(deps.db, callId);
  if (!run) return undefined;
  const definition = await deps.definitions.get(run.flowVersionId);
  return { ...run, definition, blockCount: listBlocks(definition).length, outcome: toOutcome(run) };
}

/**
 * Reads the options of a call into `ctx.state`: the headers for model keys and Idempotency-Key, and the query by `query`; 422 when
 * one is malformed. Two requests are equal when path (with the version), body and environment are equal. The order of keys and
 * null fields make no difference.
 */
export function readCallOptions(
  deps: ApiDeps,
  endpoint: IdempotencyKey['endpoint'],
  query?: z.ZodType,
): ApiMiddleware {
  const parseModelKeys = modelKeysParser(deps);
  return async function readCallOptions(ctx, next) {
    if (query) ctx.state.query = parseQuery(query, ctx);
    ctx.state.modelKeys = parseModelKeys(ctx.get(MODEL_KEY_HEADER));
    const key = readIdempotencyKey(ctx);
    if (key !== undefined) {
      const { principal, flow, body } = ctx.state;
      const digest = digestRequest(principal.environment, ctx.path, withoutNulls(body));
      ctx.state.idempotencyKey = { projectId: flow.projectId, endpoint, key, digest };
    }
    return next();
  };
}

/**
 * Accepts a handler's request with `accept`, which does not depend on Koa. Sets the headers and the state that follow
 * from the result.
 */
export async function acceptCall<Body>(
  deps: ApiDeps,
  ctx: ApiContext,
  accept: (request: CallRequest<Body>) => Promise<AcceptedCall | undefined>,
): Promise<AcceptedCall> {
  try {
    const call = await acceptIdempotently(deps, toCallRequest<Body>(ctx), accept);
    ctx.state.accepted = { executionId: call.executionId };
    addToLogContext({ execution_id: call.executionId });
    if (call.replayed) ctx.set('Idempotent-Replayed', 'true');
    return call;
  } catch (error) {
    if (!(error instanceof PerhapsStored)) throw error;
    ctx.state.accepted = { executionId: error.executionId };
    throw error.cause;
  }
}

function toCallRequest<Body>({ state, params, res }: ApiContext): CallRequest<Body> {
  const isDraft = state.flow.version === DRAFT_VERSION;
  return {
    slugs: state.slugs,
    pinned: isDraft || params.version !== undefined,
    flow: state.flow,
    requireRunnable: state.requireRunnable,
    requestId: state.requestId,
    author: isDraft ? authorOf(state.principal, state.requestId) : undefined,
    environment: isDraft ? 'test' : state.principal.environment,
    keyId: state.key?.key_id,
    userId: userOf(state.principal),
    body: state.body as Body,
    gone: readerSignal(res),
    idempotencyKey: state.idempotencyKey,
    modelKeys: state.modelKeys,
  };
}
