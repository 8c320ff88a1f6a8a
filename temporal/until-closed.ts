import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/** The questions that are under way, by workflow. */
const questions = new WeakMap<Client, Map<string, Promise<boolean>>>();

/**
 * Waits until a workflow has ended; gives up at most 20 s after `signal` aborts. A request to the engine cannot be withdrawn, so all
 * who wait for a workflow share one, and callers who disconnect and return add none. Rejects when the engine is away.
 */
export async function untilClosed(client: Client, workflowId: string, signal: AbortSignal): Promise<void> {
  const asked = questions.get(client) ?? new Map<string, Promise<boolean>>();
  questions.set(client, asked);
  while (!signal.aborted) {
    const question =
      asked.get(workflowId) ?? isClosedSoon(client, workflowId).finally(() => asked.delete(workflowId));
    asked.set(workflowId, question);
    if (await question) return;
  }
}

/** Whether a workflow has ended; the engine answers when it has, or after about 20 s. */
async function isClosedSoon(client: Client, workflowId: string): Promise<boolean> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    skipArchival: true,
    waitNewEvent: true,
    historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  });
  return Boolean(history?.events?.length);
}
