// The contexts of a flow's pages: the flow, its draft, and the way to open a step.
import { createContext, useContext } from 'react';
import type { Schemas } from '../api/client.ts';
import type { DraftState, DraftStore } from './draft/draft-store.ts';
import type { Step } from './draft/steps.ts';

/** The current flow, and the slugs of its address. */
type FlowHere = { flow: Schemas['Flow']; org: string; project: string; projectId: string };

export const FlowContext = createContext<FlowHere | undefined>(undefined);

/** Opens the details of a step beside the graph. */
export const OpenStep = createContext<(stepId: string | undefined) => void>(() => {});

/** Returns the function that opens the details of a step. */
export const useOpenStep = () => useContext(OpenStep);

/** The draft of the flow, with the ways to change it. */
type Draft = Omit<DraftState, 'history'> &
  Pick<
    DraftStore,
    | 'change'
    | 'undo'
    | 'undoLatest'
    | 'undoElsewhere'
    | 'keepElsewhere'
    | 'redo'
    | 'flush'
    | 'saveToRun'
    | 'refresh'
    | 'resolve'
    | 'discard'
  > & {
    projectId: string;
    flowId: string;
    /** When the pages of the flow were opened, in milliseconds since 1970. Each visit has another number. */
    openedAt: number;
    /** The ETag of the draft as last saved or read, for `If-Match`. */
    etag: string;
    /** The selected step, from the address. */
    selectedId: string | undefined;
    select(stepId: string | undefined): void;
    /** Changes the step_id of the selected step and keeps it selected. */
    rename(from: string, to: string): void;
    /** The new step_id of the selected step until the address has it. */
    renamedTo: string | undefined;
    canUndo: boolean;
    canRedo: boolean;
    /** Describes the change that undo would revert; `redoLabel` does so for redo. */
    undoLabel: string | undefined;
    /** The draft after undo; undefined when there is nothing to undo. */
    undoSteps: Step[] | undefined;
    /** Whether undo would revert a change that was made elsewhere. */
    undoesElsewhere: boolean;
    /** Whether the draft has changes from elsewhere that were not undone. */
    hasElsewhere: boolean;
    redoLabel: string | undefined;
  };

export const DraftContext = createContext<Draft | undefined>(undefined);

/** Returns the draft. Throws outside the pages of a flow. */
export function useDraft(): Draft {
  const draft = useContext(DraftContext);
  if (!draft) throw new Error('useDraft is for the pages of a flow, inside DraftProvider.');
  return draft;
}

/** Returns the current flow. Throws outside the pages of a flow. */
export function useFlow(): FlowHere {
  const here = useContext(FlowContext);
  if (!here) throw new Error('useFlow is for the pages of a flow, inside FlowPage.');
  return here;
}
