import { isMissing } from '../../api/api-error.ts';
import { isSameTree } from './compare-steps.ts';
import { ELSEWHERE, type History, isLastElsewhere, NO_HISTORY, redoIn, remember, undoIn } from './history.ts';
import { locateProblem, type Problem } from './problems.ts';
import type { Step } from './steps.ts';

/** The draft as stored by the service. */
export type ServerDraft = {
  steps: Step[];
  etag: string;
  problems: { path: string; message: string }[];
  notes: { path: string; message: string }[];
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
  /** Notes of the service on the saved draft, such as a model without a key. */
  notes: Problem[];
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

/** A clock and timers, which tests replace. */
type Timers = {
  set(run: () => void, ms: number): unknown;
  clear(timer: unknown): void;
  now(): number;
};

const BROWSER_TIMERS: Timers = {
  set: (run, ms) => setTimeout(run, ms),
  clear: (timer) => clearTimeout(timer as number),
  now: () => performance.now(),
};

const SAVE_AFTER_MS = 800;
const RETRY_FIRST_MS = 2_000;
const RETRY_MAX_MS = 30_000;

/** Holds a draft while it is edited, and saves it shortly after the last change, one request at a time. */
export class DraftStore {
  #state: DraftState;
  readonly #server: DraftServer;
  readonly #timers: Timers;
  readonly #listeners = new Set<() => void>();
  #timer: unknown;
  #saving: Promise<void> | undefined;
  #retryMs = RETRY_FIRST_MS;
  /** The steps of a save without a response; the service may have them. */
  #sent: Step[] | undefined;
  #isDiscarded = false;

  constructor(saved: ServerDraft, server: DraftServer, timers: Timers = BROWSER_TIMERS) {
    this.#server = server;
    this.#timers = timers;
    this.#state = {
      steps: saved.steps,
      saved,
      problems: locate(saved.steps, saved.problems),
      notes: locate(saved.steps, saved.notes),
      saveState: 'saved',
      message: undefined,
      conflict: undefined,
      isDeleted: false,
      takenOver: 0,
      asksUndo: false,
      history: NO_HISTORY,
    };
  }

  readonly state = (): DraftState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes the draft. Quick successive changes with the same label are undone together. */
  change(label: string, edit: (steps: Step[]) => Step[]): void {
    const { steps, history } = this.#state;
    const edited = edit(steps);
    if (edited !== steps) this.#edit(edited, remember(history, label, steps, this.#timers.now()));
  }

  /** Undoes the last change. Before a change from elsewhere it stops and sets `asksUndo`. */
  undo(): void {
    if (isLastElsewhere(this.#state.history)) this.#set({ asksUndo: true });
    else this.#undo();
  }

  /** Undoes changes that were made elsewhere, for everybody. */
  undoElsewhere(): void {
    this.keepElsewhere();
    if (isLastElsewhere(this.#state.history)) this.#undo();
  }

  /** Keeps the changes that were made elsewhere. */
  keepElsewhere(): void {
    this.#set({ asksUndo: false });
  }

  #undo(): void {
    const back = undoIn(this.#state.history, this.#state.steps);
    if (back) this.#edit(back.steps, back.history);
  }

  /** Undoes the last change if it has this label. Returns whether it did. */
  undoLatest(label: string): boolean {
    const isLatest = this.#state.history.past.at(-1)?.label === label;
    if (isLatest) this.undo();
    return isLatest;
  }

  redo(): void {
    const forth = redoIn(this.#state.history, this.#state.steps);
    if (forth) this.#edit(forth.steps, forth.history);
  }

  /** Saves unsaved changes at once. Resolves to whether everything is saved. */
  async flush(): Promise<boolean> {
    while (this.#saving) await this.#saving;
    if (this.#isDirty() && !this.#state.conflict) await this.#save();
    return this.#state.saveState === 'saved';
  }

  /**
   * Saves unsaved changes before a request that runs the draft, and returns the ETag. Throws when the draft cannot be
   * saved.
   */
  async saveToRun(): Promise<string> {
    if (await this.flush()) return this.#state.saved.etag;
    const { saveState, message } = this.#state;
    throw new Error(
      saveState === 'conflict'
        ? 'The draft was changed elsewhere, so it was not run: resolve the conflict in the editor first.'
        : `The draft could not be saved, so it was not run. ${message ?? ''}`.trim(),
    );
  }

  /** Discards unsaved changes. A save in flight may still be carried out. */
  discard(): void {
    this.#isDiscarded = true;
  }

  /** Saves unsaved changes and stops; a failed save is not repeated. */
  close(): void {
    void this.flush().finally(() => this.#timers.clear(this.#timer));
  }

  /** Adopts a change that was made elsewhere, unless there are unsaved changes here. */
  async refresh(): Promise<void> {
    if (this.#isBusy()) return;
    const { etag } = this.#state.saved;
    const draft = await this.#read(etag);
    if (!draft || this.#isBusy() || this.#state.saved.etag !== etag || draft.etag === etag) return;
    this.#adopt(draft);
    this.#set({ takenOver: this.#state.takenOver + 1 });
  }

  /** Resolves a conflict: with the service's draft (undo restores mine), or by saving mine over it. */
  async resolve(choice: 'theirs' | 'mine'): Promise<void> {
    const { conflict } = this.#state;
    if (!conflict) return;
    if (choice === 'theirs') return this.#adopt(conflict);
    this.#set({ saved: conflict, conflict: undefined, saveState: 'unsaved', message: undefined });
    await this.flush();
  }

  /** Replaces the draft with the service's, as a change that can be undone. */
  #adopt(draft: ServerDraft): void {
    const { steps, history } = this.#state;
    this.#timers.clear(this.#timer);
    this.#sent = undefined;
    this.#set({
      history: remember(history, ELSEWHERE, steps, this.#timers.now()),
      ...settled(draft, draft.steps),
    });
  }

  #edit(steps: Step[], history: History): void {
    this.#set({ steps, history });
    if (this.#state.conflict) return;
    if (this.#isDirty() || this.#saving) {
      this.#set({ saveState: this.#saving ? 'saving' : 'unsaved' });
      this.#schedule(SAVE_AFTER_MS);
    } else this.#set(settled(this.#state.saved, steps));
  }

  #schedule(ms: number): void {
    this.#timers.clear(this.#timer);
    this.#timer = this.#timers.set(() => void this.flush(), ms);
  }

  #save(): Promise<void> {
    this.#timers.clear(this.#timer);
    this.#saving = this.#send().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  async #send(): Promise<void> {
    const { steps, saved } = this.#state;
    this.#set({ saveState: 'saving', message: undefined });
    const result = await this.#server.save(steps, saved.etag);
    if (result.type === 'saved') return this.#settle(steps, result.draft);
    if (result.type === 'changed') return this.#detectConflict(steps);
    if (result.type === 'deleted') return this.#set({ saveState: 'unsaved', isDeleted: true });
    const isChanged = this.#state.steps !== steps;
    if (result.type === 'refused') {
      const problems = locate(steps, result.problems);
      this.#set({ saveState: 'refused', message: result.message, ...(problems.length > 0 && { problems }) });
      if (isChanged) this.#schedule(SAVE_AFTER_MS);
      return;
    }
    this.#sent = steps;
    this.#set({ saveState: 'offline', message: result.message });
    this.#schedule(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS);
  }

  /** Records that the service has these steps; later changes are saved next. */
  #settle(steps: Step[], draft: ServerDraft): void {
    this.#retryMs = RETRY_FIRST_MS;
    this.#sent = undefined;
    this.#set(settled({ ...draft, steps }, this.#state.steps));
    if (!this.#isDirty()) return;
    this.#set({ saveState: 'unsaved' });
    this.#schedule(SAVE_AFTER_MS);
  }

  /** Reads the draft that conflicts with a save. It may be our own, from a save whose response was lost. */
  async #detectConflict(steps: Step[]): Promise<void> {
    const theirs = await this.#read(undefined);
    if (!theirs) {
      this.#set({ saveState: 'offline', message: 'The draft cannot be read.' });
      return this.#schedule(this.#retryMs);
    }
    const own = [steps, this.#sent].find((sent) => sent && isSameTree(theirs.steps, sent));
    if (own) return this.#settle(own, theirs);
    this.#set({ saveState: 'conflict', conflict: theirs, message: undefined });
  }

  /** Reads the draft; undefined when it still has this ETag or cannot be read. */
  async #read(etag: string | undefined): Promise<ServerDraft | undefined> {
    try {
      return await this.#server.read(etag);
    } catch (error) {
      if (isMissing(error)) this.#set({ isDeleted: true });
      return undefined;
    }
  }

  #isDirty(): boolean {
    if (this.#isDiscarded) return false;
    return this.#state.steps !== this.#state.saved.steps || this.#sent !== undefined;
  }

  #isBusy(): boolean {
    return this.#saving !== undefined || this.#state.saveState !== 'saved';
  }

  #set(change: Partial<DraftState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function settled(draft: ServerDraft, steps: Step[]): Partial<DraftState> {
  const problems = locate(draft.steps, draft.problems);
  const notes = locate(draft.steps, draft.notes);
  return {
    steps,
    saved: draft,
    problems,
    notes,
    saveState: 'saved',
    message: undefined,
    conflict: undefined,
  };
}

function locate(steps: Step[], problems: ServerDraft['problems']): Problem[] {
  return problems.map((problem) => locateProblem(steps, problem));
}
