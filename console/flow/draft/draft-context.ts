import { createContext, useContext } from 'react';
import type { DraftState } from './draft-state.ts';
import type { DraftStore } from './draft-store.ts';
import type { Step } from './steps.ts';

/** The draft of the flow that the page shows, with the ways to change it. */
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
    /** When the pages of the flow were opened, in milliseconds since 1970: another number at each visit. */
    openedAt: number;
    /** Blocks whose model has no key, and fields without effect. */
    notes: string[];
    /** The ETag of the draft that was saved or read last, for `If-Match`. */
    etag: string;
    /** The selected step, which the address names. */
    selectedId: string | undefined;
    select(stepId: string | undefined): void;
    /** Changes the step_id of the selected step, which stays selected. */
    rename(from: string, to: string): void;
    /** The step_id that the selected step has just been given, until the address names it. */
    renamedTo: string | undefined;
    canUndo: boolean;
    canRedo: boolean;
    /** Says what undo takes back, and what redo makes again. */
    undoLabel: string | undefined;
    /** The draft as undo would make it; undefined when there is nothing to undo. */
    undoSteps: Step[] | undefined;
    /** Whether undo would take back what was made elsewhere. */
    undoesElsewhere: boolean;
    /** Whether the draft has changes that were made elsewhere and have not been undone. */
    hasElsewhere: boolean;
    redoLabel: string | undefined;
  };

export const DraftContext = createContext<Draft | undefined>(undefined);

/** The draft that is edited, on the pages of a flow. */
export function useDraft(): Draft {
  const draft = useContext(DraftContext);
  if (!draft) throw new Error('useDraft is for the pages of a flow, inside DraftProvider.');
  return draft;
}
