// The tables of test cases and test runs as Kysely sees them.
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { Expectation, TestInput, TestStatus } from '../../flow/test-case.ts';
import type { Now } from './access.ts';

export interface TestCaseTable {
  id: Generated<string>;
  flow_id: string;
  name: string;
  input: JSONColumnType<TestInput>;
  expectation: JSONColumnType<Expectation>;
  created_at: Now;
  updated_at: Now;
  /** The case's run in its latest test run; the result may be deleted already. */
  last_execution_id: string | null;
}

export const TEST_RUN_STATUSES = ['started', 'completed', 'cancelled'] as const;
type TestRunStatus = (typeof TEST_RUN_STATUSES)[number];

/** Test cases of a flow that run together, in one workflow of the same id. */
export interface TestRunTable {
  id: string;
  flow_id: string;
  flow_version_id: string;
  status: Generated<TestRunStatus>;
  /** The audit-log actor; null when unknown. */
  started_by: string | null;
  started_at: Now;
  finished_at: Date | null;
  cancel_requested_at: Date | null;
}

/** A case as it was when it ran, and its result. */
export interface TestResultTable {
  execution_id: string;
  test_run_id: string;
  position: number;
  test_case_id: string;
  name: string;
  input: JSONColumnType<TestInput>;
  expectation: JSONColumnType<Expectation>;
  status: Generated<TestStatus>;
  why: ColumnType<string | null, never, string | null>;
  /** The run in which a model judged it. */
  judge_execution_id: string | null;
  /** Null before the verdict: see `COST_OF_TEST`. */
  cost_microcredits: ColumnType<number | null, never, number>;
}
