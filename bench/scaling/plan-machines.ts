/** Every part that a run takes processor time of. PostgreSQL has both databases, as in docker-compose.yml. */
export const COST_PARTS = ['api', 'worker', 'temporal', 'postgres'] as const;

export type CostPart = (typeof COST_PARTS)[number];

export type RunCost = {
  /** Milliseconds of processor time by part. */
  cpuMs: Record<CostPart, number>;
  /** Transactions by database. */
  commits: { weirDatabase: number; temporalDatabase: number };
  /** Bytes written ahead by both databases. */
  walBytes: number;
  diskBytes: { weirDatabase: number; temporalDatabase: number };
};

/** A measurement of one kind of run: so many callers at once, one API and so many workers. */
export type Measured = RunCost & { kind: string; workers: number; callers: number; runsPerSecond: number };

/** The share of their processors that parts may use: what remains is for peaks, and for the loss of a machine. */
export const UTILISATION = 0.5;

type Plan = {
  /** Processors by part, in tenths. */
  cores: Record<CostPart, number>;
  walMbPerSecond: number;
  commitsPerSecond: number;
  /** Growth of both databases, before retention. */
  diskGbPerDay: number;
};

const DAY_SECONDS = 86_400;

/**
 * Extrapolates the cost of one run to a rate, linearly: what a run takes has not been seen to grow with the number of runs
 * (docs/scaling.md has the measured curves).
 */
export function planMachines(cost: RunCost, runsPerSecond: number, utilisation = UTILISATION): Plan {
  const coresOf = (ms: number) => Math.ceil(((ms * runsPerSecond) / 1_000 / utilisation) * 10) / 10;
  const { commits, diskBytes } = cost;
  return {
    cores: Object.fromEntries(COST_PARTS.map((part) => [part, coresOf(cost.cpuMs[part])])) as Plan['cores'],
    walMbPerSecond: (cost.walBytes * runsPerSecond) / 1e6,
    commitsPerSecond: (commits.weirDatabase + commits.temporalDatabase) * runsPerSecond,
    diskGbPerDay: ((diskBytes.weirDatabase + diskBytes.temporalDatabase) * runsPerSecond * DAY_SECONDS) / 1e9,
  };
}
