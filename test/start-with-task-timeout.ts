import type { Duration } from '@temporalio/common';
import { toPlan } from '../flow/plan.ts';
import { RUN_FLOW } from '../flow/run.ts';
import type { runFlow } from '../workflows/run-flow.ts';
import { acceptRun } from './accept-run.ts';
import type { Tenant, Weir } from './harness.ts';

/**
 * Starts a run with a shorter workflow task than others have: the loss of a worker is found out only when the time of its task
 * is over. Returns the run's id.
 */
export async function startWithTaskTimeout(
  weir: Weir,
  tenant: Tenant,
  flow: string,
  workflowTaskTimeout: Duration,
): Promise<string> {
  const { executionId, definition } = await acceptRun(weir, tenant, flow);
  await weir.client.workflow.start<typeof runFlow>(RUN_FLOW, {
    workflowId: executionId,
    taskQueue: weir.config.taskQueue,
    workflowTaskTimeout,
    args: [{ executionId, steps: toPlan(definition.steps) }],
  });
  return executionId;
}
