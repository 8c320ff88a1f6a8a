// How much is measured. Everything takes about forty minutes, --quick a few. A service in use is warm: hence the warm-up.

export type Sizes = {
  /** Each round measures every candidate once, so that a drift of the machine affects all alike. */
  rounds: number;
  warmUpMs: number;
  /** How long each number of callers calls: three trivial blocks, three model calls, and a crowd of 256. */
  blocksMs: number;
  modelsMs: number;
  crowdMs: number;
  /** How many runs are started by `jobs` and `webhooks`. */
  jobs: number;
  callbacks: number;
  /** Seconds for which a quiet organization calls, alone and beside a flood. */
  floodSeconds: number;
  /** Model calls of so many milliseconds that are under way at once. */
  longCalls: number;
  longMs: number;
  /** Bytes of the outputs of 200 blocks in a row. */
  outputBytes: number[];
  /** Runs beside which requests are measured. */
  manyRuns: number;
  /** Seconds for which an innocent organization calls beside each hostile load. */
  neighbourSeconds: number;
};

const KB = 1_000;
const MB = 1_000 * KB;

export const FULL: Sizes = {
  rounds: 3,
  warmUpMs: 8_000,
  blocksMs: 7_000,
  modelsMs: 10_000,
  crowdMs: 25_000,
  jobs: 2_000,
  callbacks: 1_000,
  floodSeconds: 20,
  longCalls: 1_000,
  longMs: 60_000,
  outputBytes: [KB, 100 * KB, MB, 8 * MB],
  manyRuns: 1_000_000,
  neighbourSeconds: 60,
};

export const QUICK: Sizes = {
  rounds: 1,
  warmUpMs: 700,
  blocksMs: 1_000,
  modelsMs: 2_000,
  crowdMs: 2_000,
  jobs: 100,
  callbacks: 100,
  floodSeconds: 5,
  longCalls: 200,
  longMs: 20_000,
  outputBytes: [KB, 100 * KB],
  manyRuns: 100_000,
  neighbourSeconds: 10,
};
