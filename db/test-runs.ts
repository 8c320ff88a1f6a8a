// Test runs: cases of a flow run together against one snapshot of its draft.
import { sql } from 'kysely';
import type { Verdict } from '../flow/test-case.ts';
import type { Db } from './connect.ts';
import { insertRuns } from './runs.ts';
import type { TestCaseRow } from './test-cases.ts';

export type NewTestRun = {
  id: string;
  flowId: string;
  flowVersionId: string;
  tests: { executionId: string; testCase: TestCaseRow }[];
};

/** Accepts a test run, once: from here on its workflow finishes it, or the reconciler starts that anew. */
export function insertTestRun(db: Db, { id, flowId, flowVersionId, tests }: NewTestRun): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await tx
      .insertInto('test_run')
      .values({ id, flow_id: flowId, flow_version_id: flowVersionId })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    await tx
      .insertInto('test_result')
      .values(
        tests.map(({ executionId, testCase }, position) => ({
          execution_id: executionId,
          test_run_id: id,
          position,
          test_case_id: testCase.id,
          name: testCase.name,
          input: JSON.stringify(testCase.input),
          expectation: JSON.stringify(testCase.expectation),
        })),
      )
      .onConflict((conflict) => conflict.column('execution_id').doNothing())
      .execute();
  });
}

/** Accepts the run of a case, once: the draft's snapshot with the case's input. */
export async function acceptTest(db: Db, executionId: string): Promise<void> {
  const test = await db
    .selectFrom('test_result')
    .innerJoin('test_run', 'test_run.id', 'test_result.test_run_id')
    .innerJoin('flow', 'flow.id', 'test_run.flow_id')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .select([
      'project.organization_id as organizationId',
      'project.id as projectId',
      'flow.id as flowId',
      'test_run.flow_version_id as flowVersionId',
      'test_result.input',
    ])
    .where('test_result.execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
  const input = { ...test.input, block_overrides: {} };
  await insertRuns(db, [{ ...test, executionId, mode: 'test', environment: 'test', input }]);
}

/** A case that was run: what is expected, and how its run stands (`run_status` null: it never began). */
export function getTest(db: Db, executionId: string) {
  return db
    .selectFrom('test_result')
    .leftJoin('run', 'run.execution_id', 'test_result.execution_id')
    .select([
      'test_result.expectation',
      'test_result.status',
      'run.status as run_status',
      'run.result',
      'run.error',
    ])
    .where('test_result.execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
}

/** Records what came of a case, once. */
export async function recordVerdict(db: Db, executionId: string, { status, why }: Verdict): Promise<void> {
  await db
    .updateTable('test_result')
    .set({ status, why: JSON.stringify(why) })
    .where('execution_id', '=', executionId)
    .where('status', '=', 'pending')
    .execute();
}

/** Records the end of a test run; a case that nothing came of is an error. */
export function finishTestRun(db: Db, testRunId: string): Promise<void> {
  const why = 'It could not be run or judged, for a reason inside the service.';
  return db.transaction().execute(async (tx) => {
    await tx
      .updateTable('test_result')
      .set({ status: 'error', why: JSON.stringify(why) })
      .where('test_run_id', '=', testRunId)
      .where('status', '=', 'pending')
      .execute();
    await tx
      .updateTable('test_run')
      .set({ status: 'completed', finished_at: sql`now()` })
      .where('id', '=', testRunId)
      .where('status', '=', 'started')
      .execute();
  });
}

/** A test run with what starting its workflow needs. */
export async function getTestRunStart(db: Db, testRunId: string) {
  const run = await db
    .selectFrom('test_run')
    .innerJoin('flow', 'flow.id', 'test_run.flow_id')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .innerJoin('flow_version', 'flow_version.id', 'test_run.flow_version_id')
    .select([
      'test_run.id as testRunId',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      'flow_version.definition',
    ])
    .where('test_run.id', '=', testRunId)
    .executeTakeFirstOrThrow();
  const tests = await db
    .selectFrom('test_result')
    .select(['execution_id as executionId', 'name'])
    .where('test_run_id', '=', testRunId)
    .orderBy('position')
    .execute();
  return { ...run, tests };
}
export type TestRunStart = Awaited<ReturnType<typeof getTestRunStart>>;

/** Takes up to `limit` test runs that have not ended, as `claimUnfinishedRuns` takes runs; answers their ids. */
export async function claimUnfinishedTestRuns(
  db: Db,
  { quietSeconds, limit }: { quietSeconds: number; limit: number },
): Promise<string[]> {
  const claimed = await db
    .updateTable('test_run')
    .set({ reconciled_at: sql`now()` })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('test_run')
        .select('id')
        .where('status', '=', 'started')
        .where(
          sql`coalesce(reconciled_at, started_at)`,
          '<=',
          sql`now() - ${quietSeconds} * interval '1 second'`,
        )
        .orderBy(sql`coalesce(reconciled_at, started_at)`)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning('id')
    .execute();
  return claimed.map(({ id }) => id);
}
