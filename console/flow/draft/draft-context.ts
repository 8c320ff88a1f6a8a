// The contexts of a flow's pages: the flow, its draft, and the way to open a step.
import { createContext, useContext } from 'react';
import type { DraftState } from './draft-state.ts';
import type { DraftStore } from './draft-store.ts';
import type { Step } from './steps.ts';

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
    /** Notes of the service: blocks whose model has no key, and fields without effect. */
    notes: string[];
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
