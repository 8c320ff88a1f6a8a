// A draft that is being edited, and the service that keeps it.
import type { History } from './history.ts';
import type { Problem } from './problems.ts';
import type { Step } from './steps.ts';

/** The draft as the service has it. */
export type ServerDraft = {
  steps: Step[];
  etag: string;
  problems: { path: string; message: string }[];
  notes: string[];
};

/**
 * How a save ended. `changed`: the draft is another by now; `deleted`: its flow was deleted; `refused`: these steps cannot be
 * saved; `failed`: try again.
 */
export type SaveResult =
  | { type: 'saved'; draft: ServerDraft }
  | { type: 'changed' }
  | { type: 'deleted' }
  | { type: 'refused'; message: string; problems: { path: string; message: string }[] }
  | { type: 'failed'; message: string };

export type DraftServer = {
  /** Reads the draft; undefined while it has the ETag. Throws when the service cannot be reached, and when its flow was deleted. */
  read(etag: string | undefined): Promise<ServerDraft | undefined>;
  save(steps: Step[], etag: string): Promise<SaveResult>;
};

export type SaveState = 'saved' | 'saving' | 'unsaved' | 'conflict' | 'refused' | 'offline';

export type DraftState = {
  steps: Step[];
  /** The draft of the service that `steps` was made from. */
  saved: ServerDraft;
  problems: Problem[];
  saveState: SaveState;
  /** Says why the draft is refused or not saved yet. */
  message: string | undefined;
  /** The draft of somebody else that a save would have overwritten. */
  conflict: ServerDraft | undefined;
  /** The flow was deleted: nothing can be saved any more. */
  isDeleted: boolean;
  /** How many times a change made elsewhere was taken over; shown as a note. */
  takenOver: number;
  /** Undo was asked for where the last change was made elsewhere: the reader decides. */
  asksUndo: boolean;
  history: History;
};
