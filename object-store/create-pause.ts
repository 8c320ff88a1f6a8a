/** A pause in what has failed, during which now and then one finds out whether it works again. */
export type Pause = {
  /** Whether there is no pause, or it is time for one more try. */
  mayTry(): boolean;
  isOn(): boolean;
  begin(): void;
  end(): void;
};

/** Creates a pause of `restMs` between two tries. */
export function createPause(restMs: number, now = () => performance.now()): Pause {
  let until: number | undefined;
  return {
    mayTry() {
      if (until === undefined) return true;
      if (now() < until) return false;
      // Whoever comes while this one tries would wait for the same answer.
      until = now() + restMs;
      return true;
    },
    isOn: () => until !== undefined,
    begin() {
      until = now() + restMs;
    },
    end() {
      until = undefined;
    },
  };
}
