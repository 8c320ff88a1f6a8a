import { findRun } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { addToLogContext } from '../../platform/observability/log-context.ts';
import { linkToTrace } from '../../platform/observability/tracing.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';

/**
 * Loads a run of the flow in the path, in any version, into `ctx.state.run`. Unknown and foreign runs get the same
 * 404.
 */
export function loadRun({ db }: ApiDeps): ApiMiddleware {
  return async function loadRun(ctx, next) {
    const { executionId = '' } = ctx.params;
    const run = UUID_PATTERN.test(executionId)
      ? await findRun(db, ctx.state.flowIds.flowId, executionId)
      : undefined;
    if (!run) throw runOfFlowNotFound();
    linkToTrace(run.trace_context);
    ctx.state.run = run;
    addToLogContext({ execution_id: run.execution_id });
    await next();
  };
}

export function runOfFlowNotFound(): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', 'This flow has no run with that executionId.');
}
