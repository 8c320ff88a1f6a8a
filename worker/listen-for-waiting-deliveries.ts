import { logOutage } from '../db/connection/database-errors.ts';
import type { Notifications } from '../db/notifications.ts';
import { WAITING_CHANNEL } from '../db/webhooks/webhook-turns.ts';
import { log } from '../platform/observability/log.ts';
import type { EngineDeps } from '../temporal/deps.ts';
import { listenUntil } from './listen-until.ts';
import { startWaitingAt, startWaitingDeliveries } from './reconciler/start-waiting-deliveries.ts';

/**
 * Starts deliveries that are queued without being started, as by the `weir` command, as soon as they are, until `signal`
 * aborts. Those that were queued while nobody listened are started when listening begins.
 */
export async function listenForWaitingDeliveries(
  deps: EngineDeps,
  notifications: Notifications,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown) => {
    if (!logOutage(error))
      log.warn({ err: error }, 'Waiting deliveries are left to the reconciler to begin.');
  };
  await listenUntil(signal, {
    notifications,
    channel: WAITING_CHANNEL,
    atOnce: 1,
    handle: (host) => startWaitingAt(deps, host, signal),
    catchUp: () => startWaitingDeliveries(deps, signal),
    onError,
  });
}
