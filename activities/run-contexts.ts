import { getRunContext, type RunContext } from '../db/runs/runs.ts';
import { addToLogContext } from '../observability/log-context.ts';
import type { ActivityDeps } from './activity-deps.ts';

/** Creates the function that gets a call's context, cached in this process, and names its request in the log. */
export function createRunContexts({
  db,
  inProcessRuns: { contexts },
}: Pick<ActivityDeps, 'db' | 'inProcessRuns'>): (callId: string) => Promise<RunContext> {
  return async function getContext(callId) {
    const known = contexts.get(callId);
    const context = known ?? (await getRunContext(db, callId));
    // Its size is worked out when it is set, and kept up to date by `complete`.
    if (!known) contexts.set(callId, context);
    const { organizationId, requestId } = context;
    addToLogContext({ organization_id: organizationId, ...(requestId && { request_id: requestId }) });
    return context;
  };
}
