/** A clock and timers, which tests replace. */
export type Timers = {
  set(run: () => void, ms: number): unknown;
  clear(timer: unknown): void;
  now(): number;
};

export const BROWSER_TIMERS: Timers = {
  set: (run, ms) => setTimeout(run, ms),
  clear: (timer) => clearTimeout(timer as number),
  now: () => performance.now(),
};
