// No delivery is ever lost: finds those that should have got on and whose workflow is missing, has ended or was cut off.
import type { Client } from '@temporalio/client';
import { startDelivery } from '../api/start-delivery.ts';
import type { Db } from '../db/connect.ts';
import { abandonDelivery, recordCutAttempt } from '../db/delivery-attempts.ts';
import { claimStalledDeliveries, toDeliveryCall } from '../db/open-deliveries.ts';
import { ATTEMPTS_MAX, deliveryWorkflowId } from '../flow/delivery.ts';
import { workflowState } from './workflow-state.ts';

const AGAIN_SECONDS = 60;
const CLAIMED_MAX = 100;

type Deps = { db: Db; client: Client; taskQueue: string };

/** One look at all stalled deliveries. Several processes share the work. */
export async function reconcileDeliveries(deps: Deps): Promise<void> {
  for (;;) {
    const deliveries = await claimStalledDeliveries(deps.db, {
      againInSeconds: AGAIN_SECONDS,
      limit: CLAIMED_MAX,
    });
    for (const delivery of deliveries)
      await reconcileDelivery(deps, delivery).catch((error) =>
        console.error(`Reconciling delivery ${delivery.id} failed:`, error),
      );
    if (deliveries.length < CLAIMED_MAX) return;
  }
}

type StalledDelivery = Awaited<ReturnType<typeof claimStalledDeliveries>>[number];

async function reconcileDelivery({ db, client, taskQueue }: Deps, delivery: StalledDelivery): Promise<void> {
  const call = toDeliveryCall(delivery);
  const state = await workflowState(client, deliveryWorkflowId(call));
  if (state === 'missing') {
    // Nothing is known of attempts that the engine has forgotten but what their rows say.
    if (call.made < ATTEMPTS_MAX) await startDelivery(client, taskQueue, call);
    else await abandonDelivery(db, call, 'How the last attempt ended is not known.');
  } else if (state !== 'open') {
    const reason = `The delivery's workflow ended as ${state} before its end was recorded.`;
    await abandonDelivery(db, call, reason);
  } else if (delivery.status === 'in_flight' && call.made < ATTEMPTS_MAX)
    await recordCutAttempt(db, { ...call, attempt: call.made });
}
