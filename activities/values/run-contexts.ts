import { activityInfo } from '@temporalio/activity';
import { getRunContext, type RunContext } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { addToLogContext, log } from '../../platform/observability/log.ts';
import type { ActivityDeps } from '../activity-deps.ts';

/** Logs the possible causes of a missing run, and throws the error; the workflow fails. */
function reportMissing(error: unknown): never {
  if (error instanceof ServiceError && error.code === 'RUN_NOT_FOUND')
    log.warn(
      { reason: error.message, task_queue: activityInfo().taskQueue },
      'A run on this task queue is not in the database. If it was not deleted, another service uses the same WEIR_TASK_QUEUE.',
    );
  throw error;
}

/** Creates the function that gets a call's context, cached in this process, and names its request in the log. */
export function createRunContexts({
  db,
  inProcessRuns: { contexts },
}: Pick<ActivityDeps, 'db' | 'inProcessRuns'>): (callId: string) => Promise<RunContext> {
  async function read(callId: string): Promise<RunContext> {
    const context = await getRunContext(db, callId);
    // Its size is worked out when it is set, and kept up to date by `complete`. One that comes late must not replace a later one.
    if (!contexts.has(callId)) contexts.set(callId, context);
    return context;
  }

  return async function getContext(callId) {
    const context = contexts.get(callId) ?? (await read(callId).catch(reportMissing));
    const { organizationId, requestId } = context;
    addToLogContext({ organization_id: organizationId, ...(requestId && { request_id: requestId }) });
    return context;
  };
}
