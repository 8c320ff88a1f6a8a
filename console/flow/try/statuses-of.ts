import { eachStep, type Step } from '../draft/steps.ts';
import { type StepStatus, worseStatus } from '../graph/step-status.ts';
import { isUnderWay, type TryBlock, type TryRun } from './try-run.ts';

/**
 * Returns the status of each step of a run for the graph. A block in a loop is one step; an enclosing step has the most
 * urgent status of its inner steps.
 */
export function statusesOf(run: TryRun, steps: Step[]): Map<string, StepStatus> {
  const isOver = ['completed', 'failed', 'cancelled'].includes(run.status);
  const statuses = new Map<string, StepStatus>();
  for (const block of run.blocks) {
    const before = statuses.get(block.stepId);
    const status = statusOf(block, isOver);
    statuses.set(block.stepId, {
      status: worseStatus(before?.status, status),
      count: (before?.count ?? 0) + 1,
      ms: (before?.ms ?? 0) + (block.usage?.ms ?? 0),
      cost: (before?.cost ?? 0) + (block.usage?.cost ?? 0),
    });
  }
  const { stepId: latestId } = run.blocks.at(-1) ?? {};
  // An enclosing step can fail by itself: a loop without an array, or outputs that are too large together.
  const failedId = run.status === 'failed' ? run.failure?.stepId : undefined;
  for (const { step, parents } of eachStep(steps)) {
    if (step.step_id === failedId) statuses.set(failedId, { ...statuses.get(failedId), status: 'failed' });
    else if (step.type !== 'sequential') continue;
    const inner = statuses.get(step.step_id)?.status;
    if (!inner) continue;
    // The enclosing steps of the latest block count as running even when all their known blocks have completed: a loop
    // may begin again.
    const goesOn = isUnderWay(run) && step.step_id === latestId;
    for (const { step_id } of parents) {
      const status = goesOn && !(step_id in run.outputs) ? worseStatus(inner, 'running') : inner;
      statuses.set(step_id, { status: worseStatus(statuses.get(step_id)?.status, status) });
    }
  }
  return statuses;
}

function statusOf({ status }: TryBlock, isOver: boolean): StepStatus['status'] {
  if (status === 'running' || status === 'retrying') return isOver ? 'cancelled' : 'running';
  return status;
}
