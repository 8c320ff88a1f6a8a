// The properties of the graph: what it draws, and the edits that it allows.
import { createContext } from 'react';
import type { StepKind } from '../draft/new-step.ts';
import type { Problem } from '../draft/problems.ts';
import type { Place, Step } from '../draft/steps.ts';

/** The status of a step in a run, over all its iterations. */
export type StepStatus = {
  status: 'pending' | 'running' | 'completed' | 'failed' | 'paused' | 'cancelled';
  /** The number of executions, in loops. */
  count?: number;
  /** Duration in milliseconds. */
  ms?: number;
  /** Cost in credits. */
  cost?: number;
};

/** In the order of urgency. */
const ORDER: StepStatus['status'][] = ['failed', 'running', 'paused', 'cancelled', 'completed', 'pending'];

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
  editing?: GraphEditing;
};

export type StepAction =
  | 'remove'
  | 'duplicate'
  | 'up'
  | 'down'
  | 'loop'
  | 'parallel'
  | 'unwrap'
  | 'branch'
  | 'copy';

/** The edits that users make in the graph. */
export type GraphEditing = {
  insert(kind: StepKind, place: Place): void;
  move(stepId: string, place: Place): void;
  act(action: StepAction, stepId: string): void;
  /** Inserts steps, given as JSON or YAML, after a step. */
  paste(text: string, stepId: string | undefined): void;
};

/** The editing of the enclosing graph; undefined when the graph is read-only. */
export const GraphEditingContext = createContext<GraphEditing | undefined>(undefined);

/** The blocks with a pinned output, by step_id. */
export const PinnedStepsContext = createContext<ReadonlySet<string>>(new Set());

/** Returns the more urgent of two statuses. */
export function worseStatus(
  one: StepStatus['status'] | undefined,
  other: StepStatus['status'],
): StepStatus['status'] {
  return one && ORDER.indexOf(one) < ORDER.indexOf(other) ? one : other;
}
