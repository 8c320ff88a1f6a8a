// What the parts of one model call, which begins inside a workflow task, leave to each other.
import type { BlockCall, Busy } from './run.ts';

/** A model call that goes on in its process waits this long to be taken over by the activity that was scheduled for it. */
export const TAKE_OVER_MAX_MS = 10_000;

/** The state that a model call leaves to the activity that goes on with it. */
export type Left = {
  /** The provider's refusal, which counts as an attempt. */
  refused?: { message: string; retryAfterMs?: number | undefined; isUnreadable?: boolean };
  /** An attempt, before the one that was refused, was lost with its worker, and may have asked the provider. */
  lost?: true;
  /** An answer that has been paid for and is not recorded yet. */
  kept?: unknown;
};

/** The reply of a model call that goes on in a regular activity. */
export type HandedOver = Busy & {
  /** The task queue of the process in which its request goes on; absent when none is under way. */
  at?: string;
  left?: Left;
};

/** Argument of a model call that others have begun. */
export type ModelBlockCall = BlockCall & { left?: Left };
