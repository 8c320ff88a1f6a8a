import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { listUnderWay } from '../db/runs/cancel-run.ts';
import { finishRun } from '../db/runs/runs.ts';
import { finishTestRun } from '../db/test-runs/test-runs.ts';
import { findRunDelivery } from '../db/webhooks/open-deliveries.ts';
import { CANCELLED, type CallIds, type RunOutcome, workflowIdOf } from '../flow/run.ts';
import type { EngineDeps } from './deps.ts';
import { describeEngineError } from './describe-engine-error.ts';
import { tryStartDelivery } from './start-delivery-workflow.ts';

/** A caller does not wait longer for an engine that is away; the reconciler hands the cancellation on. */
const CANCEL_TIMEOUT_MS = 4_000;

/** Tells the engine to end a call of a run that is marked as cancelled. Answers false when the engine is away. */
export async function cancelRunWorkflow(deps: EngineDeps, call: CallIds): Promise<boolean> {
  const { db, client, inProcessRuns } = deps;
  const told = await cancelWorkflow(client, workflowIdOf(call));
  if (told !== 'missing') return told;
  // It was not started yet, or has just ended.
  const outcome: RunOutcome = { status: 'failed', error: CANCELLED };
  if (!(await finishRun(db, call.callId, outcome))) return true;
  inProcessRuns?.end(call.callId, outcome);
  const delivery = await findRunDelivery(db, call.callId);
  if (delivery) await tryStartDelivery(deps, delivery);
  return true;
}

/** The same for all calls of a run that are under way, until the engine turns out to be away. */
export async function cancelUnderWay(deps: EngineDeps, executionId: string): Promise<void> {
  for (const part of await listUnderWay(deps.db, executionId))
    if (!(await cancelRunWorkflow(deps, part))) return;
}

/** The same for a test run; its cases' runs are told themselves. */
export async function cancelTestRunWorkflow({ db, client }: EngineDeps, testRunId: string): Promise<boolean> {
  const told = await cancelWorkflow(client, testRunId);
  if (told !== 'missing') return told;
  await finishTestRun(db, testRunId);
  return true;
}

async function cancelWorkflow(client: Client, workflowId: string): Promise<boolean | 'missing'> {
  try {
    await client.withDeadline(Date.now() + CANCEL_TIMEOUT_MS, () =>
      client.workflow.getHandle(workflowId).cancel(),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    console.error(`The workflow ${workflowId} could not be cancelled yet: ${describeEngineError(error)}`);
    return false;
  }
}
