import { eachStep, type Step } from '../../flow/draft/steps.ts';

/** The index in the step plan of the top-level step that a step is in, or is; undefined when the tree has no such step. */
export function topStepIndex(steps: Step[], stepId: string): number | undefined {
  for (const [index, step] of steps.entries())
    for (const { step: inner } of eachStep([step])) if (inner.step_id === stepId) return index;
  return undefined;
}
