import type { Problem } from '../draft/problems.ts';
import type { Step } from '../draft/steps.ts';
import type { StepStatus } from './step-status.ts';

/** The data of a node in the graph. */
export type StepNodeData = {
  step: Step;
  depth: number;
  status: StepStatus | undefined;
  problems: Problem[];
  isSelected: boolean;
  /** Only one step is a tab stop; arrow keys lead to the others. */
  hasTabStop: boolean;
};
