import type { PlannedStep } from './plan.ts';

/**
 * Lists the steps whose outputs the step may read: those that have ended when it begins, in the same iteration or outside its
 * loops. Steps inside those are not visible, nor branches that run beside it. Undefined when there is no such step.
 */
export function listVisibleSteps<S extends PlannedStep>(steps: S[], stepId: string): S[] | undefined {
  for (const [index, step] of steps.entries()) {
    const before = steps.slice(0, index);
    if (step.step_id === stepId) return before;
    for (const inner of listInnerSteps(step)) {
      const visible = listVisibleSteps(inner, stepId);
      if (visible) return [...before, ...visible];
    }
  }
  return undefined;
}

function listInnerSteps<S extends PlannedStep>(step: S): S[][] {
  if (step.type === 'parallel') return Object.values(step.branches) as S[][];
  return step.type === 'loop' ? [step.body as S[]] : [];
}
