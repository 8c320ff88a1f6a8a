import { DRAFT_VERSION } from '../../../flow/definition.ts';
import { addToLogContext } from '../../../platform/observability/log-context.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ApiContext } from '../../http/context.ts';
import { authorOf } from '../../http/principal.ts';
import { acceptIdempotently } from './accept-idempotently.ts';
import type { CallRequest } from './call-request.ts';
import { type AcceptedCall, PerhapsStored } from './store-call.ts';

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

function toCallRequest<Body>({ state, params }: ApiContext): CallRequest<Body> {
  const { requireRunnable } = state;
  const isDraft = state.flow.version === DRAFT_VERSION;
  return {
    slugs: state.slugs,
    pinned: isDraft || params.version !== undefined,
    flow: state.flow,
    requireRunnable: requireRunnable && (() => state.leaveLargeWork(requireRunnable)),
    requestId: state.requestId,
    author: isDraft ? authorOf(state.principal, state.requestId) : undefined,
    environment: isDraft ? 'test' : state.principal.environment,
    keyId: state.key?.key_id,
    body: state.body as Body,
    endLargeWork: state.endLargeWork,
    leaveLargeWork: state.leaveLargeWork,
    idempotencyKey: state.idempotencyKey,
    modelKeys: state.modelKeys,
  };
}
