import type { ColumnType, Generated } from 'kysely';

/** Sums of a day (UTC), by tenant and subject. */
export interface UsageTable {
  organization_id: string;
  day: ColumnType<Date, string, string>;
  project_id: string;
  flow_id: string;
  /** 0 for drafts. */
  version: number;
  /** The key_id of the API key; empty for users. */
  key_id: string;
  /** What is counted: runs, requests rejected by a rate limit, code with costs, or calls of this model. */
  subject: string;
  /** The class of latencies (db/usage/count-usage.ts); -1 without a measurement. */
  latency: number;
  count: number;
  failures: number;
  prompt_tokens: number;
  completion_tokens: number;
  microcredits: number;
}

/** A change of a run's status whose differences are to be added to `usage`. */
export interface UsagePendingTable {
  /** A call; the run itself when the run began with it. */
  execution_id: string;
  id: Generated<number>;
  at: Date;
  /** Whether the call's block executions are to be counted. */
  call_ended: boolean;
  runs: number;
  failures: number;
}
