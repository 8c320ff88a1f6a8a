import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { askEngine } from '../../temporal/ask-engine.ts';

/**
 * Cancels a workflow, or terminates it when it is `unheard`: no worker has ended it for minutes. Returns true once a workflow is
 * cancelled that a worker will end; false when it was terminated, has ended or is missing.
 */
export function cancelOpenWorkflow(
  client: Client,
  { workflowId, unheard }: { workflowId: string; unheard: boolean },
): Promise<boolean> {
  return askEngine(client, async () => {
    const workflow = client.workflow.getHandle(workflowId);
    try {
      if (unheard) await workflow.terminate('It was cancelled minutes ago, and no worker has ended it.');
      else await workflow.cancel();
      return !unheard;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  });
}
