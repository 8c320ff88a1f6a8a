import type { Client } from '@temporalio/client';
import { RUN_FLOW } from '../../flow/run.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
import { listProblems, type Problems } from '../../temporal/list-problems.ts';

/** A run that makes no progress. `since` is when it began, as far as is known. */
export type Stuck = {
  executionId: string;
  reason:
    | 'parked'
    | 'retrying'
    | 'cancelling'
    | 'task fails'
    | 'loses workers'
    | 'no workflow'
    | 'no worker'
    | 'no current worker'
    | 'no ramping worker'
    | 'no worker of its version';
  since: Date | null;
  lastError: string | null;
};

const PAGE_MAX = 500;
const REASONS = [
  ['WorkflowTaskFailed', 'task fails'],
  ['WorkflowTaskTimedOut', 'loses workers'],
] as const;

/** Lists runs whose workflow task fails or is lost with its worker again and again; none where the engine does not report it. */
export async function listFailingTasks(
  client: Client,
  { taskQueue, limit, signal }: { taskQueue: string; limit: number; signal: AbortSignal },
): Promise<Stuck[]> {
  const found: Stuck[] = [];
  for (const [problem, reason] of REASONS) {
    const stuck: Problems = { problem, taskQueues: [taskQueue], workflowType: RUN_FLOW };
    for await (const workflow of listProblems(client, stuck, Math.min(limit, PAGE_MAX))) {
      const { workflowId, startTime, searchAttributes } = workflow;
      const executionId = workflowId.split('/')[0] ?? workflowId;
      const problems = searchAttributes.TemporalReportedProblems?.map(String) ?? [];
      const cause = problems.find((each) => each.startsWith('cause='))?.slice('cause='.length) ?? null;
      const lastError = (await describeAttempts(client, workflowId)) ?? cause;
      found.push({ executionId, reason, since: startTime, lastError });
      if (found.length >= limit || signal.aborted) return found;
    }
  }
  return found;
}

/** Says how often the workflow task was tried. */
async function describeAttempts(client: Client, workflowId: string): Promise<string | null> {
  const { raw } = await askEngine(client, () => client.workflow.getHandle(workflowId).describe()).catch(
    () => ({ raw: undefined }),
  );
  const attempt = raw?.pendingWorkflowTask?.attempt;
  return attempt ? `attempt ${attempt} of its workflow task` : null;
}
