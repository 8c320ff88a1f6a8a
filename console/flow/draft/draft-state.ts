import type { History } from './history.ts';
import type { Problem } from './problems.ts';
import type { Step } from './steps.ts';

/** The draft as stored by the service. */
export type ServerDraft = {
  steps: Step[];
  etag: string;
  problems: { path: string; message: string }[];
  notes: string[];
};

/**
 * The outcome of a save. `changed`: somebody else changed the draft; `deleted`: the flow was deleted; `refused`: these
 * steps cannot be saved; `failed`: try again.
 */
export type SaveResult =
  | { type: 'saved'; draft: ServerDraft }
  | { type: 'changed' }
  | { type: 'deleted' }
  | { type: 'refused'; message: string; problems: { path: string; message: string }[] }
  | { type: 'failed'; message: string };

export type DraftServer = {
  /**
   * Reads the draft; undefined when it still has this ETag. Throws when the service is unreachable or the flow was
   * deleted.
   */
  read(etag: string | undefined): Promise<ServerDraft | undefined>;
  save(steps: Step[], etag: string): Promise<SaveResult>;
};

export type SaveState = 'saved' | 'saving' | 'unsaved' | 'conflict' | 'refused' | 'offline';

export type DraftState = {
  steps: Step[];
  /** The service's draft on which `steps` is based. */
  saved: ServerDraft;
  problems: Problem[];
  saveState: SaveState;
  /** Why the draft is refused or not saved yet. */
  message: string | undefined;
  /** Somebody else's draft that a save would have overwritten. */
  conflict: ServerDraft | undefined;
  /** Whether the flow was deleted, so that nothing can be saved any more. */
  isDeleted: boolean;
  /** How often a change from elsewhere was adopted; each time shows a note. */
  takenOver: number;
  /** Whether undo stopped at a change from elsewhere and the user has to decide. */
  asksUndo: boolean;
  history: History;
};
