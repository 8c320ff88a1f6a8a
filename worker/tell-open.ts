import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { askEngine } from './ended-workflows.ts';

/** Cancels or signals a workflow; of one that has ended meanwhile the next look tells. `runId`: of that run of it alone. */
export function tellOpen(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId?: string },
  tell: (workflow: WorkflowHandle) => Promise<unknown>,
): Promise<void> {
  return askEngine(client, async () => {
    try {
      await tell(client.workflow.getHandle(workflowId, runId));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  });
}

/** Cancels it. */
export function cancelOpen(client: Client, workflowId: string): Promise<void> {
  return tellOpen(client, { workflowId }, (workflow) => workflow.cancel());
}
