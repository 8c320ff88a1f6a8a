// The tables of usage as Kysely sees them, beside those of schema.ts.
import type { ColumnType, Generated } from 'kysely';

/** Sums of a day (UTC) by what they belong to. */
export interface UsageTable {
  organization_id: string;
  day: ColumnType<Date, string, string>;
  project_id: string;
  flow_id: string;
  /** 0 for drafts. */
  version: number;
  /** The key_id of the API key; empty for users. */
  key_id: string;
  /** The thing that is counted: runs, requests that a rate limit refused, code that costs credits, or calls of this model. */
  subject: string;
  /** The class of latencies (db/usage/latency-classes.ts); -1 where none was measured. */
  latency: number;
  count: number;
  failures: number;
  prompt_tokens: number;
  completion_tokens: number;
  microcredits: number;
}

/** A change of a run's status whose differences are to be added to `usage`. */
export interface UsagePendingTable {
  /** A call, which is the run itself where it began with it. */
  execution_id: string;
  id: Generated<number>;
  at: Date;
  /** Whether the call's block executions are to be counted. */
  call_ended: boolean;
  runs: number;
  failures: number;
}
