import { eachStep, type Step } from '../draft/steps.ts';

export type StepStatus = {
  status: 'running' | 'completed' | 'failed' | 'paused' | 'pending';
  /** How many times the step ran, in loops. */
  count?: number;
  ms?: number;
  cost?: number;
};

type Props = {
  steps: Step[];
  selectedId?: string | undefined;
  onSelect?: (stepId: string | undefined) => void;
  /** How the steps of a run stand, by step_id. */
  statuses?: ReadonlyMap<string, StepStatus>;
};

/** Draws a tree of steps. */
export function FlowGraph({ steps, selectedId, onSelect, statuses }: Props) {
  return (
    <ul>
      {[...eachStep(steps)].map(({ step, parents }) => (
        <li key={step.step_id}>
          <button
            type="button"
            aria-pressed={step.step_id === selectedId}
            onClick={() => onSelect?.(step.step_id)}
          >
            {'– '.repeat(parents.length)}
            {step.name} {statuses?.get(step.step_id)?.status}
          </button>
        </li>
      ))}
    </ul>
  );
}
