import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { GRPC, grpcCodeOf } from './engine-errors.ts';

/** Open workflows whose workflow task fails, or is lost with its worker, again and again, as the engine reports them. */
export type Problems = {
  problem: 'WorkflowTaskFailed' | 'WorkflowTaskTimedOut';
  taskQueues: string[];
  /** All types when absent. */
  workflowType?: string;
};

/** Lists workflows with such a problem, page by page. Empty where the engine does not report problems. */
export async function* listProblems(
  client: Client,
  problems: Problems,
  pageSize: number,
): AsyncGenerator<WorkflowExecutionInfo> {
  try {
    yield* client.workflow.list({ query: queryOf(problems), pageSize });
  } catch (error) {
    if (!isUnreported(error)) throw error;
  }
}

/** Counts workflows with such a problem. 0 where the engine does not report problems. */
export async function countProblems(client: Client, problems: Problems): Promise<number> {
  try {
    return (await client.workflow.count(queryOf(problems))).count;
  } catch (error) {
    if (isUnreported(error)) return 0;
    throw error;
  }
}

function queryOf({ problem, taskQueues, workflowType }: Problems): string {
  return [
    "ExecutionStatus = 'Running'",
    ...(workflowType ? [`WorkflowType = '${workflowType}'`] : []),
    `TaskQueue in (${taskQueues.map((name) => `'${name}'`).join(', ')})`,
    `TemporalReportedProblems = 'category=${problem}'`,
  ].join(' and ');
}

/** Whether the engine does not know the search attribute. */
function isUnreported(error: unknown): boolean {
  return grpcCodeOf(error) === GRPC.invalidArgument;
}
