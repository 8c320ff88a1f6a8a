import type { Step } from './steps.ts';

type Entry = { label: string; steps: Step[] };

/** The drafts before each change, and the undone drafts. */
export type History = {
  past: Entry[];
  future: Entry[];
  /** When the last change was made. Changes that follow at once join it. */
  changedAt: number;
};

/** How many changes can be undone. The stored drafts share unchanged parts. */
const CHANGES_MAX = 500;
/** Changes with the same label within this time count as one, such as typing in a field. */
const TOGETHER_MS = 2_000;

/** The label of a change that somebody else saved. */
export const ELSEWHERE = 'Changes made elsewhere';

export const NO_HISTORY: History = { past: [], future: [], changedAt: Number.NEGATIVE_INFINITY };

/** Records the draft before a change. `label` describes the change, such as "Change the prompt of greet". */
export function remember(history: History, label: string, steps: Step[], now: number): History {
  const last = history.past.at(-1);
  const isSame =
    last?.label === label && history.future.length === 0 && now - history.changedAt <= TOGETHER_MS;
  const past = isSame ? history.past : [...history.past, { label, steps }].slice(-CHANGES_MAX);
  return { past, future: [], changedAt: now };
}

/** Whether the last change is somebody else's, so that undo would revert it for everybody. */
export function isLastElsewhere({ past }: History): boolean {
  return past.at(-1)?.label === ELSEWHERE;
}

/** Whether undo could reach a change that somebody else made. */
export function hasElsewhere({ past }: History): boolean {
  return past.some(({ label }) => label === ELSEWHERE);
}

/** Undoes the last change; undefined when there is none. */
export function undoIn(history: History, steps: Step[]): { history: History; steps: Step[] } | undefined {
  const last = history.past.at(-1);
  if (!last) return undefined;
  const future = [...history.future, { label: last.label, steps }];
  return {
    history: { ...NO_HISTORY, past: history.past.slice(0, -1), future },
    steps: last.steps,
  };
}

/** Repeats the change that was undone last; undefined when there is none. */
export function redoIn(history: History, steps: Step[]): { history: History; steps: Step[] } | undefined {
  const next = history.future.at(-1);
  if (!next) return undefined;
  const past = [...history.past, { label: next.label, steps }];
  return { history: { ...NO_HISTORY, past, future: history.future.slice(0, -1) }, steps: next.steps };
}
