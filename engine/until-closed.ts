import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/**
 * Waits until a workflow has ended, or `signal` has aborted: the engine answers each question within about 20 s, and a question
 * that is under way cannot be taken back. Rejects when the engine cannot be asked.
 */
export async function untilClosed(client: Client, workflowId: string, signal: AbortSignal): Promise<void> {
  let nextPageToken: Uint8Array | undefined;
  while (!signal.aborted) {
    const reply = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId },
      skipArchival: true,
      waitNewEvent: true,
      historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
      ...(nextPageToken && { nextPageToken }),
    });
    if (reply.history?.events?.length) return;
    nextPageToken = reply.nextPageToken;
  }
}
