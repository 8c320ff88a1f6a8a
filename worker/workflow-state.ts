// How the workflow of something that should have ended stands, for the reconcilers.
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

const OPEN = ['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW'];

/** `missing`, `open`, or how it ended in small letters (`terminated`, `timed_out`, …). */
export async function workflowState(client: Client, workflowId: string): Promise<string> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return OPEN.includes(status.name) ? 'open' : status.name.toLowerCase();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}
