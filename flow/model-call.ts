// What the parts of one model call, which begins inside a workflow task, leave to each other.
import type { BlockCall, Busy } from './run.ts';

/** Maximum time that a model call waits in its process for the activity that takes it over. */
export const TAKE_OVER_MAX_MS = 10_000;

/** The state that a model call passes to the activity that continues it. */
export type Left = {
  /** The provider's refusal, which counts as an attempt. */
  refused?: { message: string; retryAfterMs?: number | undefined; isUnreadable?: boolean };
  /** An attempt before the refused attempt was lost with its worker, and may have reached the provider. */
  lost?: true;
  /** A paid answer that is not recorded yet. */
  kept?: unknown;
};

/** The reply of a model call that continues in a regular activity. */
export type HandedOver = Busy & {
  /** The task queue of the process with the request in flight; absent without a request. */
  at?: string;
  left?: Left;
};

/** Argument of a model call that others have begun. */
export type ModelBlockCall = BlockCall & { left?: Left };
