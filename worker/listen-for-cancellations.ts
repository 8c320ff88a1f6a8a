import type { Cancellations } from '../activities/cancellations.ts';
import { logOutage } from '../db/connection/database-errors.ts';
import type { Notifications } from '../db/notifications.ts';
import { listMarkedUnderWay, STOPPED_CHANNEL } from '../db/runs/run-cancellation.ts';
import { log } from '../platform/observability/log.ts';
import { cancelRunWorkflow } from '../temporal/cancel-workflow.ts';
import type { EngineDeps } from '../temporal/deps.ts';
import { listenUntil } from './listen-until.ts';

/** Maximum number of runs cancelled when listening begins; the reconciler cancels the others. */
const MISSED_MAX = 100;
/** Runs that are cancelled at the same time: an operator may cancel many at once. */
const AT_ONCE = 10;

/**
 * Aborts the blocks of calls that were cancelled or have failed, and cancels the workflows of those that are in flight, until
 * `signal` aborts. Calls that were cancelled while nobody listened come first.
 */
export async function listenForCancellations(
  deps: EngineDeps & { cancellations: Cancellations },
  notifications: Notifications,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown) => {
    if (!logOutage(error)) log.warn({ err: error }, 'Cancelled runs are left to the reconciler to end.');
  };
  async function cancelMarked(callId?: string): Promise<void> {
    for (const call of await listMarkedUnderWay(deps.db, MISSED_MAX, callId)) {
      void deps.cancellations.stop(call.callId);
      if (signal.aborted || !(await cancelRunWorkflow(deps, call))) return;
    }
  }
  await listenUntil(signal, {
    notifications,
    channel: STOPPED_CHANNEL,
    atOnce: AT_ONCE,
    handle: (callId) => {
      void deps.cancellations.stop(callId);
      return cancelMarked(callId);
    },
    catchUp: cancelMarked,
    onError,
  });
}
