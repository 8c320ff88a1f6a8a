/** A circuit breaker: open after a failure, it lets one try through now and then, to find out whether it works again. */
type CircuitBreaker = {
  /** Whether it is closed, or it is time for one more try. */
  mayTry(): boolean;
  isOpen(): boolean;
  /** Whether it is open, and something has failed in the last `ms`. */
  hasFailedWithin(ms: number): boolean;
  open(): void;
  close(): void;
};

/** Creates a closed circuit breaker, with `restMs` between two tries while it is open. */
export function createCircuitBreaker(restMs: number, now = () => performance.now()): CircuitBreaker {
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
    isOpen: () => until !== undefined,
    hasFailedWithin: (ms) => until !== undefined && now() - failedAt < ms,
    open() {
      failedAt = now();
      until = failedAt + restMs;
    },
    close() {
      until = undefined;
    },
  };
}
