import { eachStep, type Step } from '../../flow/draft/steps.ts';

/** Finds the index of the top-level step that contains a step; undefined when the tree has no such step. */
export function topStepIndex(steps: Step[], stepId: string): number | undefined {
  for (const [index, step] of steps.entries())
    for (const { step: inner } of eachStep([step])) if (inner.step_id === stepId) return index;
  return undefined;
}
