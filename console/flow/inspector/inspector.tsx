import { useDraft } from '../draft/draft-context.ts';
import { findStep } from '../draft/steps.ts';

/** The selected step and its fields; the flow's own when no step is selected. */
export function Inspector() {
  const { steps, selectedId } = useDraft();
  return <h2>{findStep(steps, selectedId)?.step.name ?? 'Flow'}</h2>;
}
