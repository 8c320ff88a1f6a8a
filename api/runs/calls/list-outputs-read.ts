import type { Step } from '../../../flow/definition.ts';
import { listStepsRead } from '../../../flow/list-steps-read.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../../flow/overrides.ts';
import { listBlocks } from '../../../flow/plan.ts';

/** Lists the steps before the index `from` whose outputs later blocks may read; possibly more than they do read. */
export function listOutputsRead(steps: Step[], overrides: BlockOverrides, from: number): string[] {
  const earlier = steps.slice(0, from).map(({ step_id }) => step_id);
  const read = listBlocks({ steps: steps.slice(from) }).map((block) =>
    listStepsRead(applyOverride(block, overrideOf(overrides, block.step_id))),
  );
  if (read.includes('all')) return earlier;
  const named = new Set(read.flat());
  return earlier.filter((stepId) => named.has(stepId));
}
