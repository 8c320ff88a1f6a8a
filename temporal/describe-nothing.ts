import type { Connection } from '@temporalio/client';
import { GRPC, grpcCodeOf } from './grpc-code.ts';

/** No workflow has this id. */
const WORKFLOW_ID = 'weir-health';

/**
 * Asks the engine about a workflow that does not exist, and rejects unless it says so: the part of the engine that starts
 * workflows answers this, and no longer does once it failed to write, as on a full disk, when task queues still answer.
 */
export async function describeNothing(
  service: Connection['workflowService'],
  namespace: string,
): Promise<void> {
  try {
    await service.describeWorkflowExecution({ namespace, execution: { workflowId: WORKFLOW_ID } });
  } catch (error) {
    if (grpcCodeOf(error) !== GRPC.notFound) throw error;
  }
}
