// Tells operators of workflows that stand still because their workflow task fails again and again, as after a deploy that does
// not fit their histories.
import type { Client } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { askEngine } from '../../engine/ask-engine.ts';
import { countProblems, listProblems, type Problems } from '../../engine/list-problems.ts';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import { log } from '../../observability/log.ts';
import { lasting } from '../../observability/metrics/lasting.ts';
import { failingWorkflows } from '../../observability/metrics/worker-metrics.ts';

/** Workflows that one line names. */
const NAMED_MAX = 3;
const EVENTS_READ_MAX = 20;
const CAUSE_MAX_CHARS = 500;
const LAST_MS = 3 * 60_000;

const failing = lasting(failingWorkflows, LAST_MS);

/**
 * Counts the workflows whose workflow task fails, for the metric, and writes one line with some of them and why they fail.
 * Does nothing where the engine cannot list such problems.
 */
export async function tellFailingWorkflowTasks({
  client,
  taskQueue,
}: {
  client: Client;
  taskQueue: string;
}): Promise<void> {
  const failed: Problems = {
    problem: 'WorkflowTaskFailed',
    taskQueues: [taskQueue, webhookTaskQueue(taskQueue)],
  };
  const count = await askEngine(client, () => countProblems(client, failed));
  failing.set([{ value: count }]);
  if (count === 0) return;
  const named = await askEngine(client, () => listSome(client, failed));
  const workflows = await Promise.all(
    named.map(async (workflow_id) => ({ workflow_id, cause: await findCause(client, workflow_id) })),
  );
  log.error(
    { count, workflows },
    'Workflows stand still because their workflow task fails again and again: see docs/operating/alerts.md.',
  );
}

async function listSome(client: Client, problems: Problems): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of listProblems(client, problems, NAMED_MAX))
    if (ids.push(workflowId) === NAMED_MAX) break;
  return ids;
}

/** Finds why a workflow's last failed task failed: the SDK's words, which hold nothing of the run. */
async function findCause(client: Client, workflowId: string): Promise<string | undefined> {
  const { history } = await askEngine(client, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId },
      maximumPageSize: EVENTS_READ_MAX,
    }),
  );
  const failed = history?.events?.find((event) => event.workflowTaskFailedEventAttributes);
  const failure = failed?.workflowTaskFailedEventAttributes?.failure;
  // Encrypted under a key that this process lacks, it stays what the engine shows.
  const cause = await decodeOptionalFailureToOptionalError(client.options.loadedDataConverter, failure).catch(
    () => failure,
  );
  return cause?.message?.slice(0, CAUSE_MAX_CHARS);
}
