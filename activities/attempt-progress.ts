// What the attempts of one activity leave to each other, in heartbeats: the engine hands it to the next attempt, also when
// the one before was lost with its worker.

/** An answer up to this size, serialized, survives the worker that got it. */
export const KEPT_MAX_BYTES = 256 * 1024;

export type Progress = {
  /** Attempts that a provider refused. */
  refusals: number;
  /** Attempts that came to an end of their own, refused or failed or drained. */
  ended: number;
  /** The number of lost attempts after which the activity was last held back. */
  heldAfter: number;
  /** What an attempt has paid for, and not recorded yet. */
  kept?: unknown;
};

/** Reads what the attempt before has left; the first one starts with nothing. */
export function readProgress(details: unknown): Progress {
  return { refusals: 0, ended: 0, heldAfter: 0, ...(details as Partial<Progress> | undefined) };
}
