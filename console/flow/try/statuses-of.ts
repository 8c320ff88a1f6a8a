import type { StepStatus } from '../graph/step-status.ts';
import type { TryBlock, TryRun } from './try-run.ts';

const WEIGHTS = ['completed', 'cancelled', 'paused', 'running', 'failed'] as const;

/** How each step of a run stands, for the graph: a block in a loop is one step however often it ran. */
export function statusesOf(run: TryRun): Map<string, StepStatus> {
  const isOver = ['completed', 'failed', 'cancelled'].includes(run.status);
  const statuses = new Map<string, StepStatus>();
  for (const block of run.blocks) {
    const before = statuses.get(block.stepId);
    const status = statusOf(block, isOver);
    const isWorse = !before || WEIGHTS.indexOf(status) > WEIGHTS.indexOf(before.status as typeof status);
    statuses.set(block.stepId, {
      status: isWorse ? status : before.status,
      count: (before?.count ?? 0) + 1,
      ms: (before?.ms ?? 0) + (block.usage?.ms ?? 0),
      cost: (before?.cost ?? 0) + (block.usage?.cost ?? 0),
    });
  }
  return statuses;
}

function statusOf({ status }: TryBlock, isOver: boolean): (typeof WEIGHTS)[number] {
  if (status === 'running' || status === 'retrying') return isOver ? 'cancelled' : 'running';
  return status;
}
