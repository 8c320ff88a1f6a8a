import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { askEngine } from '../../engine/ask-engine.ts';
import { GRPC, grpcCodeOf } from '../../engine/grpc-code.ts';

/** Calls `act` with a workflow, ignoring that it may have ended meanwhile. With `runId`, acts on that one execution only. */
export function withOpenWorkflow(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId?: string },
  act: (workflow: WorkflowHandle) => Promise<unknown>,
): Promise<void> {
  return askEngine(client, async () => {
    try {
      await act(client.workflow.getHandle(workflowId, runId));
    } catch (error) {
      // Requests of the workflow service itself answer with the status alone.
      if (!(error instanceof WorkflowNotFoundError) && grpcCodeOf(error) !== GRPC.notFound) throw error;
    }
  });
}

/** Ends a workflow of what was cancelled so long ago that no worker has heard of it. */
export function terminateUnheard(client: Client, workflowId: string): Promise<void> {
  return withOpenWorkflow(client, { workflowId }, (workflow) =>
    workflow.terminate('It was cancelled minutes ago, and no worker has ended it.'),
  );
}

/** Cancels a workflow; false when it has ended or is missing. */
export async function cancelOpenWorkflow(client: Client, workflowId: string): Promise<boolean> {
  let isOpen = false;
  await withOpenWorkflow(client, { workflowId }, async (workflow) => {
    await workflow.cancel();
    isOpen = true;
  });
  return isOpen;
}
