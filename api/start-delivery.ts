import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import {
  DELIVER_WEBHOOK,
  type DeliveryCall,
  deliveryWorkflowId,
  describeDelivery,
  webhookTaskQueue,
} from '../flow/delivery.ts';

/** A caller waits no longer; the reconciler starts what is recorded. */
const START_TIMEOUT_MS = 5_000;

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
