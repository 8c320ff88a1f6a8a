// How much is measured: all of it takes about seven minutes, --quick less than one.

export type Sizes = {
  /** Every candidate once per round, in turn: a drift of the machine hits all alike. */
  rounds: number;
  warmUpMs: number;
  /** At each concurrency. */
  measureMs: number;
  maxRequests: number;
  /** Runs of three model calls, times the concurrency. */
  modelRuns: number;
  jobs: number;
  /** Jobs with a webhook. */
  callbacks: number;
  /** Of an innocent organization's calls beside each hostile load. */
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
