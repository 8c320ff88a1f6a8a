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

/** Changes that the reader of a graph makes in it. */
export type GraphEditing = {
  insert(kind: StepKind, place: Place): void;
  move(stepId: string, place: Place): void;
  act(action: StepAction, stepId: string): void;
  /** Puts steps, as JSON or YAML, after a step. */
  paste(text: string, stepId: string | undefined): void;
};

/** The editing of the graph that a part of it is in; undefined when the graph is for reading. */
export const GraphEditingContext = createContext<GraphEditing | undefined>(undefined);
