// No delivery is ever lost: finds stalled deliveries whose workflow is missing, has ended or was cut off.
import { abandonDelivery, recordCutAttempt } from '../../db/webhooks/delivery-attempts.ts';
import { claimStalledDeliveries, toDeliveryCall } from '../../db/webhooks/open-deliveries.ts';
import { ATTEMPTS_MAX, deliveryWorkflowId } from '../../flow/delivery.ts';
import { reconcilerFindings } from '../../platform/observability/metrics/worker-metrics.ts';
import type { EngineDeps } from '../../temporal/deps.ts';
import { signalDelivery, startDeliveryWorkflow } from '../../temporal/start-delivery-workflow.ts';
import { findEndedWorkflows, findWorkflowState } from './find-ended-workflows.ts';
import { repairEach, throwFailures } from './repair-each.ts';

const AGAIN_SECONDS = 60;
const CLAIMED_MAX = 500;

/** Repairs up to 500 stalled deliveries and returns whether there may be more. Several processes share the work. */
export async function reconcileDeliveries(deps: EngineDeps, signal?: AbortSignal): Promise<boolean> {
  const claimed = await claimStalledDeliveries(deps.db, {
    againInSeconds: AGAIN_SECONDS,
    limit: CLAIMED_MAX,
  });
  const deliveries = claimed
    // A delivery that waits for a turn is started by the one that leaves it.
    .filter(({ turn }) => turn !== 'awaited')
    .map((delivery) => {
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
    .filter(({ state, status, turn }) => state !== 'open' || status === 'in_flight' || turn !== 'held');
  const failures = await repairEach(
    due,
    (delivery) => delivery.id,
    async (delivery) => {
      await reconcileDelivery(deps, delivery);
      if (delivery.state !== 'open') reconcilerFindings.add(1, { kind: 'delivery' });
    },
    signal,
  );
  throwFailures(failures);
  return claimed.length === CLAIMED_MAX;
}

type StalledDelivery = { call: ReturnType<typeof toDeliveryCall>; state: string; status: string };

async function reconcileDelivery(deps: EngineDeps, delivery: StalledDelivery): Promise<void> {
  const { db, client } = deps;
  const { call, state, status } = delivery;
  if (state === 'missing') {
    // Of attempts that the engine has forgotten, only their rows are left.
    if (call.made < ATTEMPTS_MAX) await startDeliveryWorkflow(deps, call);
    else await abandonDelivery(db, call, 'The outcome of the last attempt is not known.');
  } else if (state !== 'open') {
    const reason = `The delivery's workflow ended as ${state} before its end was recorded: redeliver it.`;
    await abandonDelivery(db, call, reason);
  } else if (status !== 'in_flight') {
    // The workflow may wait for a turn that nobody will announce any more.
    if (await signalDelivery(client, call)) return;
    // The engine's list alone still had it.
    const found = await findWorkflowState(client, deliveryWorkflowId(call));
    if (found !== 'open') await reconcileDelivery(deps, { ...delivery, state: found });
  } else if (call.made < ATTEMPTS_MAX) await recordCutAttempt(db, { ...call, attempt: call.made });
}
