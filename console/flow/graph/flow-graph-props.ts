import type { Problem } from '../draft/problems.ts';
import type { Step } from '../draft/steps.ts';
import type { GraphEditing } from './graph-editing.ts';
import type { StepStatus } from './step-status.ts';

export type FlowGraphProps = {
  steps: Step[];
  /** Names the graph for assistive technology. */
  label?: string;
  selectedId?: string | undefined;
  /** A step was chosen by pointer or arrow keys; undefined when the reader clicks beside the steps. */
  onSelect?: (stepId: string | undefined) => void;
  /** A step was clicked, or Enter was pressed on it. */
  onOpen?: (stepId: string) => void;
  /** How the steps of a run stand, by step_id. */
  statuses?: ReadonlyMap<string, StepStatus> | undefined;
  problems?: Problem[];
  /** Makes the graph one that can be changed. */
  editing?: GraphEditing;
};
