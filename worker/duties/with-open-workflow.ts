import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { askEngine } from '../../temporal/ask-engine.ts';
import { GRPC, grpcCodeOf } from '../../temporal/engine-errors.ts';

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

/**
 * Cancels a workflow, and terminates it where that is `unheard`: no worker has heard of it for minutes. Returns false when the
 * workflow has ended by now or is missing, so that nobody else records the end.
 */
export async function cancelOpenWorkflow(
  client: Client,
  { workflowId, unheard }: { workflowId: string; unheard: boolean },
): Promise<boolean> {
  let isOpen = false;
  await withOpenWorkflow(client, { workflowId }, async (workflow) => {
    if (unheard) await workflow.terminate('It was cancelled minutes ago, and no worker has ended it.');
    else await workflow.cancel();
    isOpen = !unheard;
  });
  return isOpen;
}
