import { Context } from '@temporalio/activity';

/** So many losses in a row are not an accident. */
const LOST_MAX = 3;
/** A loss leaves at least so many events: the task timed out; the next one was scheduled, started, renewed, and started again. */
const EVENTS_OF_A_LOSS = 6;
const EVENTS_READ_MAX = 200;
const START_TO_CLOSE = 1;
const ASK_TIMEOUT_MS = 4_000;

/**
 * Returns whether the block of this local activity has lost several workers in a row. A block of several seconds renews its
 * workflow task, so the engine counts each loss as the first. The end of the history shows the number of losses. A short
 * `historyLength` rules losses out without a request to the engine.
 */
export async function hasLostWorkersInTask(historyLength: number): Promise<boolean> {
  if (historyLength < LOST_MAX * EVENTS_OF_A_LOSS) return false;
  const { client, info } = Context.current();
  const request = {
    namespace: client.options.namespace,
    execution: info.workflowExecution,
    maximumPageSize: EVENTS_READ_MAX,
  };
  const { history } = await client.withDeadline(Date.now() + ASK_TIMEOUT_MS, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse(request),
  );
  let lost = 0;
  for (const event of history?.events ?? []) {
    const timedOut = event.workflowTaskTimedOutEventAttributes;
    if (timedOut?.timeoutType === START_TO_CLOSE) lost += 1;
    // Anything but workflow tasks is progress.
    else if (
      !timedOut &&
      !event.workflowTaskScheduledEventAttributes &&
      !event.workflowTaskStartedEventAttributes &&
      !event.workflowTaskCompletedEventAttributes
    )
      break;
  }
  return lost >= LOST_MAX;
}
