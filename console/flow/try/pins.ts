// The pinned outputs of a flow's blocks: tries of the draft have them in place of running these blocks. They are those of one
// user, in this browser.
import { useSyncExternalStore } from 'react';
import { useMe } from '../../shell/me.ts';
import { useDraft } from '../flow-context.ts';
import { EDITED_MAX_CHARS } from './try-input.ts';

/** Outputs by step_id. */
type Pins = Readonly<Record<string, unknown>>;

const NONE: Pins = {};
const listeners = new Set<() => void>();
/** The pins read or written last, by key: the same object until they change. */
const known = new Map<string, Pins>();

/** Returns the pinned outputs of a user in a flow. */
export function readPins(userId: string, flowId: string): Pins {
  const key = keyOf(userId, flowId);
  let pins = known.get(key);
  if (!pins) {
    pins = parse(localStorage.getItem(key));
    known.set(key, pins);
  }
  return pins;
}

/** Returns the pinned outputs of the flow, and the functions that change them. */
export function usePins() {
  const { userId } = useMe();
  const { flowId } = useDraft();
  const pins = useSyncExternalStore(subscribe, () => readPins(userId, flowId));
  return {
    pins,
    /** Pins an output. Throws when the browser cannot keep it. */
    pin(stepId: string, output: unknown): void {
      if (JSON.stringify(output).length > EDITED_MAX_CHARS)
        throw new Error('This output is too large to be pinned.');
      write(keyOf(userId, flowId), { ...pins, [stepId]: output });
    },
    unpin(stepId: string): void {
      const { [stepId]: _, ...others } = pins;
      write(keyOf(userId, flowId), others);
    },
    /** Keeps the output of a step whose step_id has changed. */
    rename(from: string, to: string): void {
      const { [from]: output, ...others } = pins;
      if (output !== undefined) write(keyOf(userId, flowId), { ...others, [to]: output });
    },
  };
}

function write(key: string, pins: Pins): void {
  try {
    if (Object.keys(pins).length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(pins));
  } catch {
    throw new Error('The browser has no room for this output: unpin another one.');
  }
  known.set(key, pins);
  for (const listener of listeners) listener();
}

function parse(stored: string | null): Pins {
  try {
    const pins: unknown = JSON.parse(stored ?? '{}');
    return typeof pins === 'object' && pins !== null ? (pins as Pins) : NONE;
  } catch {
    return NONE;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keyOf(userId: string, flowId: string): string {
  return `weir pins ${userId} ${flowId}`;
}
