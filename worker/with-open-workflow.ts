import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { askEngine } from '../engine/ask-engine.ts';

/** Cancels or signals a workflow; of one that has ended meanwhile the next look tells. `runId`: of that run of it alone. */
export function withOpenWorkflow(
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
export function cancelOpenWorkflow(client: Client, workflowId: string): Promise<void> {
  return withOpenWorkflow(client, { workflowId }, (workflow) => workflow.cancel());
}
