// Makes up for processes that died: frees turns that lapsed, and starts deliveries whose turn nobody announced.
import { randomUUID } from 'node:crypto';
import { dropLapsedTurns, giveTurns, HOST_MAX, listWaitingHosts } from '../../db/webhooks/webhook-turns.ts';
import type { EngineDeps } from '../../temporal/deps.ts';
import { beginTurn } from '../../temporal/start-delivery-workflow.ts';
import { repairEach } from './repair-each.ts';

/** Hosts looked at in one go, chosen at random. */
const HOSTS_MAX = 500;

/** Gives free turns to waiting deliveries and starts them. Several processes may do so at the same time. */
export async function startWaitingDeliveries(deps: EngineDeps, signal?: AbortSignal): Promise<void> {
  await dropLapsedTurns(deps.db);
  for (const host of await listWaitingHosts(deps.db, HOSTS_MAX)) {
    if (signal?.aborted) return;
    await startWaitingAt(deps, host, signal);
  }
}

/** The same at one host. */
export async function startWaitingAt(deps: EngineDeps, host: string, signal?: AbortSignal): Promise<void> {
  const turns = await giveTurns(deps.db, { host, after: randomUUID(), atMost: HOST_MAX });
  // None is counted: `beginTurn` logs its failures itself.
  await repairEach(
    turns,
    ({ call }) => call.deliveryId,
    (turn) => beginTurn(deps, turn),
    signal,
  );
}
