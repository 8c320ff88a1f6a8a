import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { askEngine } from './ended-workflows.ts';

/** Cancels a workflow; one that has ended meanwhile is recorded at the next look. */
export function cancelOpen(client: Client, workflowId: string): Promise<void> {
  return askEngine(client, async () => {
    try {
      await client.workflow.getHandle(workflowId).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  });
}
