import { listInnerSteps, type PlannedStep } from './plan.ts';

/**
 * Lists the steps whose outputs a step may read: those that end before it begins, in the same iteration or outside its
 * loops. Steps inside those, and branches that run beside it, are not visible. Undefined when there is no such step. Pass
 * the step itself where step_ids may repeat, otherwise its step_id.
 */
export function listVisibleSteps<S extends PlannedStep>(steps: S[], sought: string | S): S[] | undefined {
  for (const [index, step] of steps.entries()) {
    const before = steps.slice(0, index);
    if (step === sought || step.step_id === sought) return before;
    for (const inner of listInnerSteps(step)) {
      const visible = listVisibleSteps(inner, sought);
      if (visible) return [...before, ...visible];
    }
  }
  return undefined;
}
