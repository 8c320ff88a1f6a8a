// The progress that an attempt of an activity leaves to the next one in its heartbeats. The engine hands it over even when
// the attempt was lost with its worker.

/** An answer of up to this many bytes, serialized, survives the loss of the worker that received it. */
export const KEPT_RESULT_MAX_BYTES = 256 * 1024;

export type Progress = {
  /** The number of attempts that a provider refused, or for whose code there was no process. */
  refusals: number;
  /** The number of those whose answer could not be read. */
  unreadable: number;
  /** The number of attempts that ended by themselves: refused, failed or drained, rather than lost. */
  ended: number;
  /** The number of these that got no permit (reschedule.ts). */
  rescheduled: number;
  /** The number of attempts that were lost with their workflow task, before the activity. */
  lostInTask: number;
  /** The number of lost attempts after which the activity was last delayed. */
  heldAfter: number;
  /** A paid result that is not recorded yet. */
  kept?: unknown;
};

/** Reads the progress left by the previous attempt; the first attempt starts from zero. */
export function readProgress(details: unknown): Progress {
  return {
    refusals: 0,
    unreadable: 0,
    ended: 0,
    rescheduled: 0,
    lostInTask: 0,
    heldAfter: 0,
    ...(details as Partial<Progress> | undefined),
  };
}

/** Whether a JSON value is small enough to be kept for later attempts. */
export function isKeepable(value: object): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= KEPT_RESULT_MAX_BYTES;
}
