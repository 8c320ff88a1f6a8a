import type { Step } from './steps.ts';

type Entry = { label: string; steps: Step[] };

/** Drafts as they were before each change, and those that were undone. */
export type History = {
  past: Entry[];
  future: Entry[];
  /** When the last change was made, for changes that follow it at once. */
  changedAt: number;
};

/** Undo goes back this far; the drafts share what did not change. */
const CHANGES_MAX = 500;
/** Changes under the same label within this time are one, such as typing in a field. */
const TOGETHER_MS = 2_000;

/** The label of a change that somebody else made and saved. */
export const ELSEWHERE = 'Changes made elsewhere';

export const NO_HISTORY: History = { past: [], future: [], changedAt: Number.NEGATIVE_INFINITY };

/** Remembers the draft as it is before a change. `label` says what the change does, such as "Change the prompt of greet". */
export function remember(history: History, label: string, steps: Step[], now: number): History {
  const last = history.past.at(-1);
  const isSame =
    last?.label === label && history.future.length === 0 && now - history.changedAt <= TOGETHER_MS;
  const past = isSame ? history.past : [...history.past, { label, steps }].slice(-CHANGES_MAX);
  return { past, future: [], changedAt: now };
}

/** Whether the last change is somebody else's, which undo would take back for everybody. */
export function isLastElsewhere({ past }: History): boolean {
  return past.at(-1)?.label === ELSEWHERE;
}

/** Whether a change that somebody else made is among those that undo would take back. */
export function hasElsewhere({ past }: History): boolean {
  return past.some(({ label }) => label === ELSEWHERE);
}

/** Takes the last change back; undefined when there is none. */
export function undoIn(history: History, steps: Step[]): { history: History; steps: Step[] } | undefined {
  const last = history.past.at(-1);
  if (!last) return undefined;
  const future = [...history.future, { label: last.label, steps }];
  return {
    history: { ...NO_HISTORY, past: history.past.slice(0, -1), future },
    steps: last.steps,
  };
}

/** Makes the change that was taken back last again; undefined when there is none. */
export function redoIn(history: History, steps: Step[]): { history: History; steps: Step[] } | undefined {
  const next = history.future.at(-1);
  if (!next) return undefined;
  const past = [...history.past, { label: next.label, steps }];
  return { history: { ...NO_HISTORY, past, future: history.future.slice(0, -1) }, steps: next.steps };
}
