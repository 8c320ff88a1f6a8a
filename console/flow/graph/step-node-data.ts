import type { Problem } from '../draft/problems.ts';
import type { Step } from '../draft/steps.ts';
import type { StepStatus } from './step-status.ts';

/** The data of a step's node in the graph. */
export type StepNodeData = {
  step: Step;
  depth: number;
  status: StepStatus | undefined;
  problems: Problem[];
  isSelected: boolean;
  /** One step can be reached with Tab; arrow keys lead to the others. */
  hasTabStop: boolean;
};
