import { listInnerSteps, type PlannedStep } from './plan.ts';

/**
 * Lists the steps whose outputs the step may read: those that have ended when it begins, in the same iteration or outside its
 * loops. Steps inside those are not visible, nor branches that run beside it. Undefined when there is no such step. A step of a
 * tree that may have a step_id twice is given itself, otherwise its step_id does.
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
