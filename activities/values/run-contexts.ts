import { activityInfo } from '@temporalio/activity';
import { isCancelRequested } from '../../db/runs/run-cancellation.ts';
import { getRunContext, type RunContext } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { addToLogContext, log } from '../../platform/observability/log.ts';
import type { ActivityDeps } from '../activity-deps.ts';

/** Throws the error of a missing run with possible causes; the workflow fails. */
function tellMissing(error: unknown): never {
  if (error instanceof ServiceError && error.code === 'RUN_NOT_FOUND')
    log.warn(
      { reason: error.message, task_queue: activityInfo().taskQueue },
      'A run on this task queue is not in the database. If it was not deleted, another service uses the same WEIR_TASK_QUEUE.',
    );
  throw error;
}

/**
 * Time after which the database is checked for a cancellation. A workflow receives a cancellation only between tasks, and one
 * task may execute blocks for eight seconds.
 */
const LOOK_AGAIN_MS = 500;

/** Creates the function that gets a call's context, cached in this process, and names its request in the log. */
export function createRunContexts({
  db,
  inProcessRuns: { contexts },
}: Pick<ActivityDeps, 'db' | 'inProcessRuns'>): (callId: string) => Promise<RunContext> {
  const lookedAt = new WeakMap<RunContext, number>();
  async function read(callId: string): Promise<RunContext> {
    const context = await getRunContext(db, callId);
    // Its size is worked out when it is set, and kept up to date by `complete`. One that comes late must not replace a later one.
    if (!contexts.has(callId)) contexts.set(callId, context);
    return context;
  }

  return async function getContext(callId) {
    const context = contexts.get(callId) ?? (await read(callId).catch(tellMissing));
    const now = performance.now();
    const last = lookedAt.get(context);
    if (last === undefined) lookedAt.set(context, now);
    else if (now - last >= LOOK_AGAIN_MS) {
      lookedAt.set(context, now);
      // For the next block: this one does not wait, and does not depend on whether the database is away.
      void isCancelRequested(db, callId).then(
        (isCancelled) => {
          context.cancelled ||= isCancelled;
        },
        () => undefined,
      );
    }
    const { organizationId, requestId } = context;
    addToLogContext({ organization_id: organizationId, ...(requestId && { request_id: requestId }) });
    return context;
  };
}
