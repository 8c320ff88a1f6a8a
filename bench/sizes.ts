// How much is measured. Everything takes about seven minutes, --quick less than one.

export type Sizes = {
  /** Each round measures every candidate once, so that a drift of the machine affects all alike. */
  rounds: number;
  warmUpMs: number;
  /** Seconds at each concurrency. */
  measureMs: number;
  maxRequests: number;
  /** Runs of three model calls, times the concurrency. */
  modelRuns: number;
  jobs: number;
  /** How many jobs with a webhook are run. */
  callbacks: number;
  /** Seconds for which an innocent organization calls beside each hostile load. */
  neighbourSeconds: number;
};

export const FULL: Sizes = {
  rounds: 3,
  warmUpMs: 2_000,
  measureMs: 7_000,
  maxRequests: 20_000,
  modelRuns: 5,
  jobs: 2_000,
  callbacks: 1_000,
  neighbourSeconds: 30,
};

export const QUICK: Sizes = {
  rounds: 1,
  warmUpMs: 700,
  measureMs: 1_000,
  maxRequests: 2_000,
  modelRuns: 1,
  jobs: 100,
  callbacks: 100,
  neighbourSeconds: 10,
};
