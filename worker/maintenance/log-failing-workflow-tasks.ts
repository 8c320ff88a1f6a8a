// Tells operators of workflows that stand still because their workflow task fails again and again, as after a deploy that does
// not fit their histories.
import type { Client } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import { log } from '../../platform/observability/log.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
import { countProblems, listProblems, type Problems } from '../../temporal/list-problems.ts';

/** Workflows that one line names. */
const NAMED_MAX = 3;
const EVENTS_READ_MAX = 20;
const CAUSE_MAX_CHARS = 500;

type Deps = { client: Client; taskQueue: string };

/** Counts the workflows whose workflow task fails; 0 where the engine cannot list such problems. */
export function countFailingWorkflows({ client, taskQueue }: Deps): Promise<number> {
  return askEngine(client, () => countProblems(client, failedOn(taskQueue)));
}

/** Writes one line with some of the workflows whose workflow task fails, if any, and why they fail. */
export async function logFailingWorkflowTasks({ client, taskQueue }: Deps): Promise<void> {
  const count = await countFailingWorkflows({ client, taskQueue });
  if (count === 0) return;
  const named = await askEngine(client, () => listSome(client, failedOn(taskQueue)));
  const workflows = await Promise.all(
    named.map(async (workflow_id) => ({ workflow_id, cause: await findCause(client, workflow_id) })),
  );
  log.error(
    { count, workflows },
    'Workflows stand still because their workflow task fails again and again: see docs/operating/alerts.md.',
  );
}

function failedOn(taskQueue: string): Problems {
  return { problem: 'WorkflowTaskFailed', taskQueues: [taskQueue, webhookTaskQueue(taskQueue)] };
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
