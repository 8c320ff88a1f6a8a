// No delivery is ever lost: finds stalled deliveries whose workflow is missing, has ended or was cut off.
import { abandonDelivery, recordCutAttempt } from '../../db/webhooks/delivery-attempts.ts';
import { claimStalledDeliveries, toDeliveryCall } from '../../db/webhooks/open-deliveries.ts';
import { ATTEMPTS_MAX, type DeliveryCall, deliveryWorkflowId } from '../../flow/delivery.ts';
import { reconcilerFindings } from '../../platform/observability/metrics/worker-metrics.ts';
import type { EngineDeps } from '../../temporal/deps.ts';
import { startDeliveryWorkflow } from '../../temporal/start-delivery-workflow.ts';
import { findEndedWorkflows } from './find-ended-workflows.ts';
import { repairEach, throwFailures } from './repair-each.ts';

const AGAIN_SECONDS = 60;
const CLAIMED_MAX = 500;

/** Repairs up to 500 stalled deliveries and returns whether there may be more. Several processes share the work. */
export async function reconcileDeliveries(deps: EngineDeps, signal?: AbortSignal): Promise<boolean> {
  const claimed = await claimStalledDeliveries(deps.db, {
    againInSeconds: AGAIN_SECONDS,
    limit: CLAIMED_MAX,
  });
  const deliveries = claimed.map((delivery) => {
    const call = toDeliveryCall(delivery);
    return { ...delivery, call, workflowId: deliveryWorkflowId(call) };
  });
  const ended = await findEndedWorkflows(
    deps.client,
    deliveries.map((delivery) => delivery.workflowId),
    signal,
  );
  const due = deliveries
    .map((delivery) => ({ ...delivery, state: ended.get(delivery.workflowId) ?? 'open' }))
    // An open workflow waits for a worker, for the database, or for a permit.
    .filter(({ state, status }) => state !== 'open' || status === 'in_flight');
  const failures = await repairEach(
    due,
    (delivery) => delivery.id,
    async (delivery) => {
      await reconcileDelivery(deps, delivery);
      // The start of a new round may have been left to the reconciler.
      const isAwaited = delivery.state === 'missing' && delivery.call.made === 0;
      if (delivery.state !== 'open' && !isAwaited) reconcilerFindings.add(1, { kind: 'delivery' });
    },
    signal,
  );
  throwFailures(failures);
  return claimed.length === CLAIMED_MAX;
}

type StalledDelivery = { call: DeliveryCall; state: string };

async function reconcileDelivery(deps: EngineDeps, { call, state }: StalledDelivery): Promise<void> {
  const { db } = deps;
  if (state === 'missing') {
    // Of attempts that the engine has forgotten, only their rows are left.
    if (call.made < ATTEMPTS_MAX) await startDeliveryWorkflow(deps, call);
    else await abandonDelivery(db, call, 'The outcome of the last attempt is not known.');
  } else if (state !== 'open') {
    const reason = `The delivery's workflow ended as ${state} before its end was recorded: redeliver it.`;
    await abandonDelivery(db, call, reason);
  } else if (call.made < ATTEMPTS_MAX) await recordCutAttempt(db, { ...call, attempt: call.made });
}
