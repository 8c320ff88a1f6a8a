/** Every part that a run takes processor time of. PostgreSQL has both databases, as in docker-compose.yml. */
export const COST_PARTS = ['api', 'worker', 'temporal', 'postgres'] as const;
export type CostPart = (typeof COST_PARTS)[number];

/** The cost of one run. */
export type RunCost = {
  /** Milliseconds of processor time by part. */
  cpuMs: Record<CostPart, number>;
  /** Transactions by database. */
  commits: { weirDatabase: number; temporalDatabase: number };
  /** Bytes written ahead by both databases. */
  walBytes: number;
  /** Bytes by which each database has grown. */
  diskBytes: { weirDatabase: number; temporalDatabase: number };
};

/** A measurement of one kind of run: so many callers at once, one API and so many workers. */
export type Measured = RunCost & { kind: string; workers: number; callers: number; runsPerSecond: number };
