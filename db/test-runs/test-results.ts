// The results of test runs, for callers.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { versionOfRun } from '../runs/run-columns.ts';

/** The cost of a `test_result` with its judge, in microcredits: the recorded cost, or the sum of its blocks so far. */
export const COST_OF_TEST = sql<number>`coalesce(test_result.cost_microcredits, (
  select sum(block.cost_microcredits) from run as call
  join block_run as block on block.execution_id = call.execution_id
  where call.execution_id in (test_result.execution_id, test_result.judge_execution_id)
    or call.continues = test_result.execution_id
), 0)::bigint`;

/** Lists the results of a test run in the order of its cases, with its status and version. Throws for an unknown test run. */
export async function listTestResults(db: Db, testRunId: string) {
  const { status, version } = await db
    .selectFrom('test_run')
    .innerJoin('flow_version', 'flow_version.id', 'test_run.flow_version_id')
    .select(['test_run.status', versionOfRun().as('version')])
    .where('test_run.id', '=', testRunId)
    .executeTakeFirstOrThrow();
  const rows = await selectResults(db)
    .where('test_result.test_run_id', '=', testRunId)
    .orderBy('test_result.position')
    .execute();
  return { status, version, rows };
}
export type TestResultRow = Awaited<ReturnType<typeof listTestResults>>['rows'][number];

/** Lists the results of cases by the ids of their runs, with the start of each test run. */
export function listResultsOf(db: Db, executionIds: string[]) {
  return selectResults(db)
    .innerJoin('test_run', 'test_run.id', 'test_result.test_run_id')
    .innerJoin('flow_version', 'flow_version.id', 'test_run.flow_version_id')
    .select(['test_result.test_run_id', 'test_run.started_at as tested_at', versionOfRun().as('version')])
    .where(sql<boolean>`test_result.execution_id = any (${executionIds}::uuid[])`)
    .execute();
}

function selectResults(db: Db) {
  return db
    .selectFrom('test_result')
    .leftJoin('run', 'run.execution_id', 'test_result.execution_id')
    .select([
      'test_result.test_case_id',
      'test_result.name',
      'test_result.status',
      'test_result.why',
      'test_result.execution_id',
      'test_result.judge_execution_id',
      'run.result',
      'run.concluded_by',
      'run.started_at',
      'run.finished_at',
      COST_OF_TEST.as('cost_microcredits'),
    ]);
}

export function findTestRun(db: Db, testRunId: string) {
  return db
    .selectFrom('test_run')
    .select(['id', 'flow_id', 'status'])
    .where('id', '=', testRunId)
    .executeTakeFirst();
}

/** Finds the case whose run has this executionId, even before the run has begun. */
export function findTestOfRun(db: Db, executionId: string) {
  return db
    .selectFrom('test_result')
    .innerJoin('test_run', 'test_run.id', 'test_result.test_run_id')
    .select([
      'test_result.test_run_id',
      'test_result.test_case_id',
      'test_result.name',
      'test_result.status',
      'test_result.why',
      'test_run.flow_id',
    ])
    .where('test_result.execution_id', '=', executionId)
    .executeTakeFirst();
}
