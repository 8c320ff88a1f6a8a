import { logOutage } from '../db/connection/database-errors.ts';
import type { Notifications } from '../db/notifications.ts';
import { CANCELLED_CHANNEL, listMarkedUnderWay } from '../db/runs/run-cancellation.ts';
import { log } from '../platform/observability/log.ts';
import { cancelRunWorkflow, cancelUnderWay } from '../temporal/cancel-workflow.ts';
import type { EngineDeps } from '../temporal/deps.ts';
import { listenUntil } from './listen-until.ts';

/** Maximum number of runs cancelled when listening begins; the reconciler cancels the others. */
const MISSED_MAX = 100;
/** Runs that are cancelled at the same time: an operator may cancel many at once. */
const AT_ONCE = 10;

/**
 * Cancels the workflows of runs as soon as the `weir` command marks them as cancelled, until `signal` aborts. Runs that
 * were marked while nobody listened are cancelled first.
 */
export async function listenForCancellations(
  deps: EngineDeps,
  notifications: Notifications,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown) => {
    if (!logOutage(error)) log.warn({ err: error }, 'Cancelled runs are left to the reconciler to end.');
  };
  async function cancelMissed(): Promise<void> {
    for (const call of await listMarkedUnderWay(deps.db, MISSED_MAX))
      if (signal.aborted || !(await cancelRunWorkflow(deps, call))) return;
  }
  await listenUntil(signal, {
    notifications,
    channel: CANCELLED_CHANNEL,
    atOnce: AT_ONCE,
    handle: (executionId) => cancelUnderWay(deps, executionId),
    catchUp: cancelMissed,
    onError,
  });
}
