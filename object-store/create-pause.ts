/** A pause in what has failed, during which now and then one finds out whether it works again. */
export type Pause = {
  /** Whether there is no pause, or it is time for one more try. */
  mayTry(): boolean;
  isOn(): boolean;
  /** Whether it is on, and something has failed in the last `ms`. */
  hasFailedWithin(ms: number): boolean;
  begin(): void;
  end(): void;
};

/** Creates a pause of `restMs` between two tries. */
export function createPause(restMs: number, now = () => performance.now()): Pause {
  let until: number | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  return {
    mayTry() {
      if (until === undefined) return true;
      if (now() < until) return false;
      // Whoever comes while this one tries would wait for the same answer.
      until = now() + restMs;
      return true;
    },
    isOn: () => until !== undefined,
    hasFailedWithin: (ms) => until !== undefined && now() - failedAt < ms,
    begin() {
      failedAt = now();
      until = failedAt + restMs;
    },
    end() {
      until = undefined;
    },
  };
}
