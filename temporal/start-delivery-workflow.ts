import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { getDeliveryOrigin } from '../db/webhooks/deliveries.ts';
import {
  DELIVER_WEBHOOK,
  type DeliveryCall,
  deliveryWorkflowId,
  describeDelivery,
  fairShareOfDelivery,
  webhookTaskQueue,
} from '../flow/delivery.ts';
import { continueTrace } from '../platform/observability/tracing.ts';
import { askEngine, isEngineAway, logEngineFailure } from './ask-engine.ts';
import type { EngineDeps } from './deps.ts';
import { searchAttributesOf } from './search-attributes-of.ts';

const AT_ONCE = 10;
/** A caller waits for this. On a busy machine, 1,000 starts took 43 s. */
const START_MAX_MS = 3_000;

/** Starts a recorded delivery, but only logs a failure: the reconciler starts the delivery later. */
export async function tryStartDelivery(deps: EngineDeps, call: DeliveryCall): Promise<void> {
  await startDeliveryWorkflow(deps, call).catch((error: unknown) => logFailure(error, call));
}

/** Starts recorded deliveries for up to 3 s, unless the engine is away. The reconciler starts the rest. */
export async function tryStartDeliveries(deps: EngineDeps, calls: DeliveryCall[]): Promise<void> {
  const until = performance.now() + START_MAX_MS;
  let isAway = false;
  const left = calls.values();
  async function startEach(): Promise<void> {
    for (const call of left) {
      if (isAway || performance.now() > until) return;
      await startDeliveryWorkflow(deps, call).catch((error: unknown) => {
        isAway ||= isEngineAway(error);
        logFailure(error, call);
      });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, startEach));
}

function logFailure(error: unknown, { deliveryId }: DeliveryCall): void {
  logEngineFailure(error, { delivery_id: deliveryId }, 'A delivery could not be started yet.');
}

/** Starts the workflow of a recorded delivery. Does nothing for a round that was started before. */
export async function startDeliveryWorkflow(
  { db, client, taskQueue }: EngineDeps,
  call: DeliveryCall,
): Promise<void> {
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
