// The properties of the graph: what it draws, and the edits that it allows.
import { createContext } from 'react';
import type { StepKind } from '../draft/new-step.ts';
import type { Place } from '../draft/steps.ts';

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
