import { RECORDED_MAX } from '../../db/runs/find-news-of-runs.ts';
import { findRun } from '../../db/runs/runs.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { requireStillAllowed } from './calls/require-still-allowed.ts';
import { runOfFlowNotFound } from './load-run.ts';
import type { Updates } from './news.ts';

/** Maximum time that a request may wait for the end. */
export const WAIT_MAX_SECONDS = 60;

/**
 * Waits until the run has ended or paused, for at most the seconds in the query, and loads it again. Stops waiting
 * when the process stops or the client has gone. Throws the errors of a new request when the caller has lost access.
 */
export function waitForEnd(deps: ApiDeps, updates: Updates): ApiMiddleware {
  return async function waitForEnd(ctx, next) {
    const { wait } = ctx.state.query as { wait: number };
    const { run, flowIds } = ctx.state;
    if (wait > 0 && run.status === 'started') {
      const { organizationId } = flowIds;
      const ended = { organizationId, executionId: run.execution_id, after: RECORDED_MAX };
      const release = deps.openRequests.follow(organizationId);
      await updates.wait(ended, wait * 1_000, readerSignal(ctx.res, deps.stopping)).finally(release);
      await requireStillAllowed(deps, ctx.state.principal, organizationId);
      const later = await findRun(deps.db, flowIds.flowId, run.execution_id);
      if (!later) throw runOfFlowNotFound();
      ctx.state.run = later;
    }
    await next();
  };
}
