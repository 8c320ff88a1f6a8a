import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { listUnderWay } from '../db/runs/run-cancellation.ts';
import { finishTestRun } from '../db/test-runs/test-runs.ts';
import { CANCELLED, type CallIds, workflowIdOf } from '../flow/run.ts';
import { askEngine } from './ask-engine.ts';
import type { EngineDeps } from './deps.ts';
import { endRun } from './end-run.ts';
import { logEngineFailure } from './engine-outage.ts';

/** Cancels the workflow of a call whose run is marked as cancelled. Returns false when the engine is away. */
export async function cancelRunWorkflow(deps: EngineDeps, call: CallIds): Promise<boolean> {
  const cancelled = await cancelWorkflow(deps.client, workflowIdOf(call));
  if (cancelled !== 'missing') return cancelled;
  // Its workflow was not started yet, or has just ended.
  await endRun(deps, call.callId, { status: 'failed', error: CANCELLED });
  return true;
}

/** Cancels the workflows of all calls of a run that are under way; stops when the engine is away. */
export async function cancelUnderWay(deps: EngineDeps, executionId: string): Promise<void> {
  for (const call of await listUnderWay(deps.db, [executionId]))
    if (!(await cancelRunWorkflow(deps, call))) return;
}

/** Cancels the workflow of a test run, but not the runs of its cases. Returns false when the engine is away. */
export async function cancelTestRunWorkflow({ db, client }: EngineDeps, testRunId: string): Promise<boolean> {
  const cancelled = await cancelWorkflow(client, testRunId);
  if (cancelled !== 'missing') return cancelled;
  await finishTestRun(db, testRunId);
  return true;
}

async function cancelWorkflow(client: Client, workflowId: string): Promise<boolean | 'missing'> {
  try {
    await askEngine(client, () => client.workflow.getHandle(workflowId).cancel());
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    logEngineFailure(error, { workflow_id: workflowId }, 'A workflow could not be cancelled yet.');
    return false;
  }
}
