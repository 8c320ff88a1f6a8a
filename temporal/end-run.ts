import { finishRun } from '../db/runs/runs.ts';
import { findRunDelivery } from '../db/webhooks/open-deliveries.ts';
import type { RunOutcome } from '../flow/run.ts';
import type { EngineDeps } from './deps.ts';
import { tryStartDelivery } from './start-delivery-workflow.ts';

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
