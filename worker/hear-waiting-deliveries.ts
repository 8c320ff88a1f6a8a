import { once } from 'node:events';
import { tellOutage } from '../db/connection/database-outage.ts';
import { listen } from '../db/listen.ts';
import { WAITING_CHANNEL } from '../db/webhooks/webhook-turns.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { log } from '../observability/log.ts';
import { startWaitingAt, startWaitingDeliveries } from './start-waiting-deliveries.ts';

/**
 * Starts deliveries that are queued without being started, as by the `weir` command, as soon as they are, until `signal`
 * aborts. Those that were queued while nobody listened are started when listening begins.
 */
export async function hearWaitingDeliveries(
  deps: EngineDeps,
  databaseUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const hosts = new Set<string>();
  let serving: Promise<void> | undefined;
  const complain = (error: unknown) => {
    if (!tellOutage(error))
      log.warn({ err: error }, 'Waiting deliveries are left to the reconciler to begin.');
  };
  async function serve(): Promise<void> {
    for (const host of hosts) {
      hosts.delete(host);
      if (!signal.aborted) await startWaitingAt(deps, host, signal).catch(complain);
    }
    serving = undefined;
  }
  const { close } = listen(
    databaseUrl,
    WAITING_CHANNEL,
    (host) => {
      hosts.add(host);
      serving ??= serve();
    },
    () => void startWaitingDeliveries(deps, signal).catch(complain),
  );
  if (!signal.aborted) await once(signal, 'abort');
  await close().catch(complain);
  await serving;
}
