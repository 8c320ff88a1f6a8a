import type { Problem } from '../draft/problems.ts';
import type { Step } from '../draft/steps.ts';
import type { GraphEditing } from './graph-editing.ts';
import type { StepStatus } from './step-status.ts';

export type FlowGraphProps = {
  steps: Step[];
  /** The accessible name of the graph. */
  label?: string;
  selectedId?: string | undefined;
  /** Called when a step is selected; with undefined when the user clicks beside the steps. */
  onSelect?: (stepId: string | undefined) => void;
  /** Called when a step is clicked, or Enter is pressed on it. */
  onOpen?: (stepId: string) => void;
  /** The statuses of steps in a run, by step_id. */
  statuses?: ReadonlyMap<string, StepStatus> | undefined;
  problems?: Problem[];
  /** Makes the graph editable. */
  editing?: GraphEditing;
};
