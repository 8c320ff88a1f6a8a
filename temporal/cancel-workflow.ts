import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { listUnderWay } from '../db/runs/run-cancellation.ts';
import { finishRun } from '../db/runs/runs.ts';
import { finishTestRun } from '../db/test-runs/test-runs.ts';
import { cancelLeft, listCancelled } from '../db/upkeep/cancel-of-deleted.ts';
import { findRunDelivery } from '../db/webhooks/open-deliveries.ts';
import { CANCELLED, type CallIds, type RunOutcome, workflowIdOf } from '../flow/run.ts';
import { log } from '../platform/observability/log.ts';
import { askEngine, logEngineFailure } from './ask-engine.ts';
import type { EngineDeps } from './deps.ts';
import { tryStartDelivery } from './start-delivery-workflow.ts';

/** Workflows that are cancelled for one deletion; the reconciler cancels the others. */
const CANCELLED_MAX = 10_000;

const AT_ONCE = 10;

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

/**
 * Ends a call that has no workflow to end it: records its outcome, answers callers that wait in this process, and starts
 * its webhook. Returns false when the call had ended already.
 */
export async function endRun(deps: EngineDeps, callId: string, outcome: RunOutcome): Promise<boolean> {
  const { db, inProcessRuns } = deps;
  const recorded = await finishRun(db, callId, outcome);
  if (!recorded) return false;
  inProcessRuns?.end(callId, recorded);
  const delivery = await findRunDelivery(db, callId);
  if (delivery) await tryStartDelivery(deps, delivery);
  return true;
}

/**
 * Carries out cancellations, ten at a time, until the engine is away or `stopping` aborts. The reconciler carries out the
 * rest.
 */
export async function cancelEach(
  cancellations: (() => Promise<boolean>)[],
  stopping?: AbortSignal,
): Promise<void> {
  let reachable = true;
  const left = cancellations.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const cancel of left) {
        if (!reachable || stopping?.aborted) return;
        if (!(await cancel())) reachable = false;
      }
    }),
  );
}

/**
 * Ends the work of deleted projects. Charges stop once the promise resolves. Cancels workflows in the background; the
 * reconciler cancels the rest.
 */
export async function cancelDeleted(deps: EngineDeps, projectIds: string[]): Promise<void> {
  await cancelLeft(deps.db, { projectIds });
  void cancelWorkflows(deps, projectIds).catch((error: unknown) =>
    log.warn({ err: error }, 'Workflows of deleted projects are left to the reconciler to cancel.'),
  );
}

async function cancelWorkflows(deps: EngineDeps, projectIds: string[]): Promise<void> {
  const { runs, testRuns } = await listCancelled(deps.db, projectIds, CANCELLED_MAX);
  const cancellations = [
    // Test runs first, so that they begin no further case.
    ...testRuns.map((id) => () => cancelTestRunWorkflow(deps, id)),
    ...runs.map((call) => () => cancelRunWorkflow(deps, call)),
  ];
  await cancelEach(cancellations, deps.stopping);
}
