import type { Connection } from '@temporalio/client';
import { GRPC, grpcCodeOf } from './grpc-code.ts';

/** No workflow has this id. */
const WORKFLOW_ID = 'weir-health';

/**
 * Asks the engine about a workflow that does not exist; rejects unless the engine says so. The history service answers this
 * question. It stops answering once it fails to write, for example on a full disk, while task queues still answer.
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
