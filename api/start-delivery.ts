import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import {
  DELIVER_WEBHOOK,
  type DeliveryCall,
  deliveryWorkflowId,
  describeDelivery,
  webhookTaskQueue,
} from '../flow/delivery.ts';
import type { ApiDeps } from './context.ts';
import { START_TIMEOUT_MS } from './start-run.ts';

/** Starts the workflow of a recorded delivery, unless that round of it was started already. `taskQueue` is that of runs. */
export async function startDelivery(client: Client, taskQueue: string, call: DeliveryCall): Promise<void> {
  try {
    await client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
      client.workflow.start(DELIVER_WEBHOOK, {
        workflowId: deliveryWorkflowId(call),
        taskQueue: webhookTaskQueue(taskQueue),
        args: [call],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: describeDelivery(call),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** The same for a request that has its answer in any case: a delivery that can't be started now is the reconciler's. */
export async function startDeliverySoon({ client, config }: ApiDeps, call: DeliveryCall): Promise<void> {
  await startDelivery(client, config.taskQueue, call).catch((error: unknown) =>
    console.error(`Delivery ${call.deliveryId} could not be started yet: ${error}`),
  );
}
