import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import {
  deliveryWorkflowId,
  describeDelivery,
  fairShareOfDelivery,
  webhookTaskQueue,
} from '../flow/delivery.ts';
import { findRunDelivery } from './activities.ts';
import { deliverWebhook } from './deliver-webhook.ts';

/**
 * Starts the delivery that was recorded with the end of a run, if there is one. It outlives the run's workflow.
 */
export async function startRunDelivery(executionId: string): Promise<void> {
  const call = await findRunDelivery(executionId);
  if (!call) return;
  const { taskQueue, typedSearchAttributes } = workflowInfo();
  try {
    await startChild(deliverWebhook, {
      workflowId: deliveryWorkflowId(call),
      taskQueue: webhookTaskQueue(taskQueue),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: describeDelivery(call),
      // The outcome is the run's alone.
      typedSearchAttributes: typedSearchAttributes.updateCopy([
        { key: { name: 'WeirOutcome', type: 'KEYWORD' }, value: null },
      ]),
      priority: fairShareOfDelivery(call),
      args: [call],
    });
  } catch (error) {
    // The reconciler started it first.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
