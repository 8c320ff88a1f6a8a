import proto from '@temporalio/proto';
import type { Weir } from '../../harness.ts';

const { EVENT_TYPE_WORKFLOW_TASK_STARTED } = proto.temporal.api.enums.v1.EventType;

/** Resolves when a worker has taken the first task of a run, within which short blocks run. */
export async function firstTaskStarted({ client }: Weir, executionId: string): Promise<void> {
  let nextPageToken: Uint8Array | undefined;
  for (;;) {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: executionId },
      // Answers when there is a further event.
      waitNewEvent: true,
      ...(nextPageToken && { nextPageToken }),
    });
    const events = page.history?.events ?? [];
    if (events.some(({ eventType }) => eventType === EVENT_TYPE_WORKFLOW_TASK_STARTED)) return;
    nextPageToken = page.nextPageToken;
  }
}
