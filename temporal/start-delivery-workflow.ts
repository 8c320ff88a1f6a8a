import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { getDeliveryOrigin } from '../db/webhooks/deliveries.ts';
import {
  type GivenTurn,
  giveTurns,
  ORGANIZATION_MAX,
  PAIR_MAX,
  takeTurn,
} from '../db/webhooks/webhook-turns.ts';
import {
  DELIVER_WEBHOOK,
  type DeliveryCall,
  deliveryWorkflowId,
  describeDelivery,
  fairShareOfDelivery,
  TURN_GIVEN,
  webhookTaskQueue,
} from '../flow/delivery.ts';
import { continueTrace } from '../platform/observability/tracing.ts';
import { askEngine, logEngineFailure } from './ask-engine.ts';
import type { EngineDeps } from './deps.ts';
import { searchAttributesOf } from './search-attributes-of.ts';

/**
 * Starts the workflow of a recorded delivery if it has a permit for the destination. Does nothing for a round that was started
 * before. The delivery that releases a permit starts the next queued delivery.
 */
export async function startDeliveryWorkflow(deps: EngineDeps, call: DeliveryCall): Promise<void> {
  if (await takeTurn(deps.db, call)) await startWorkflow(deps, call);
}

/** Starts a delivery as above, but only logs a failure: the reconciler starts the delivery later. */
export async function tryStartDelivery(deps: EngineDeps, call: DeliveryCall): Promise<void> {
  await startDeliveryWorkflow(deps, call).catch((error: unknown) =>
    logEngineFailure(error, { delivery_id: call.deliveryId }, 'A delivery could not be started yet.'),
  );
}

/** Starts queued deliveries at the hosts of `calls`, up to the free permits. Each ended delivery starts the next. */
export async function startNextDeliveries(deps: EngineDeps, calls: DeliveryCall[]): Promise<void> {
  const afterOf = new Map(calls.map(({ host, organizationId }) => [host, organizationId]));
  let left = ORGANIZATION_MAX;
  try {
    for (const [host, after] of [...afterOf].slice(0, ORGANIZATION_MAX)) {
      const turns = await giveTurns(deps.db, { host, after, atMost: Math.min(left, PAIR_MAX) });
      await Promise.all(turns.map((turn) => beginTurn(deps, turn)));
      left -= turns.length;
      if (left <= 0) return;
    }
  } catch (error) {
    logEngineFailure(error, {}, 'Waiting deliveries could not be started yet.');
  }
}

/** Signals the workflow of a delivery that was given its turn, or starts it. The reconciler repeats what fails. */
export async function beginTurn(deps: EngineDeps, { call, hasWorkflow, isOpen }: GivenTurn): Promise<void> {
  try {
    const isSignalled = hasWorkflow && (await signalDelivery(deps.client, call));
    if (isOpen && !isSignalled) await startWorkflow(deps, call);
  } catch (error) {
    logEngineFailure(error, { delivery_id: call.deliveryId }, 'A delivery could not be given its turn yet.');
  }
}

/** Signals the workflow of a delivery to look whether it has its turn; false when no workflow of it is running. */
export async function signalDelivery(client: Client, call: DeliveryCall): Promise<boolean> {
  try {
    await askEngine(client, () => client.workflow.getHandle(deliveryWorkflowId(call)).signal(TURN_GIVEN));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

async function startWorkflow({ db, client, taskQueue }: EngineDeps, call: DeliveryCall): Promise<void> {
  const { trace, ...origin } = await getDeliveryOrigin(db, call.deliveryId);
  try {
    await continueTrace(trace, () =>
      askEngine(client, () =>
        client.workflow.start(DELIVER_WEBHOOK, {
          workflowId: deliveryWorkflowId(call),
          taskQueue: webhookTaskQueue(taskQueue),
          args: [call],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          staticSummary: describeDelivery(call),
          typedSearchAttributes: searchAttributesOf(origin),
          priority: fairShareOfDelivery(call),
        }),
      ),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
