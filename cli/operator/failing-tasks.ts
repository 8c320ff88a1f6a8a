import type { Client } from '@temporalio/client';
import { askEngine } from '../../engine/ask-engine.ts';
import { grpcCodeOf } from '../../engine/grpc-code.ts';
import { RUN_FLOW } from '../../flow/run.ts';

/** A run that makes no progress. `since` is when it began, as far as is known. */
export type Stuck = {
  executionId: string;
  reason: 'parked' | 'retrying' | 'cancelling' | 'task fails' | 'loses workers' | 'no workflow' | 'no worker';
  since: Date | null;
  lastError: string | null;
};

const INVALID_ARGUMENT = 3;
const REASONS = {
  'category=WorkflowTaskFailed': 'task fails',
  'category=WorkflowTaskTimedOut': 'loses workers',
} as const;

/** Lists runs whose workflow task fails or is lost with its worker again and again; none where the engine does not report it. */
export async function listFailingTasks(
  client: Client,
  { taskQueue, limit, signal }: { taskQueue: string; limit: number; signal: AbortSignal },
): Promise<Stuck[]> {
  const found: Stuck[] = [];
  for (const [category, reason] of Object.entries(REASONS)) {
    const query =
      `ExecutionStatus = 'Running' and WorkflowType = '${RUN_FLOW}' and TaskQueue = '${taskQueue}'` +
      ` and TemporalReportedProblems = '${category}'`;
    try {
      for await (const { workflowId, startTime, searchAttributes } of client.workflow.list({
        query,
        pageSize: Math.min(limit, 500),
      })) {
        const executionId = workflowId.split('/')[0] ?? workflowId;
        const problems = searchAttributes.TemporalReportedProblems?.map(String) ?? [];
        const cause =
          problems.find((problem) => problem.startsWith('cause='))?.slice('cause='.length) ?? null;
        const lastError = (await describeAttempts(client, workflowId)) ?? cause;
        found.push({ executionId, reason, since: startTime, lastError });
        if (found.length >= limit || signal.aborted) return found;
      }
    } catch (error) {
      if (grpcCodeOf(error) !== INVALID_ARGUMENT) throw error;
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
