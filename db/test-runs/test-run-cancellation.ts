import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { cancellation, IS_OPEN, SERVICE } from '../runs/run-cancellation.ts';
import { CALL_IDS } from '../runs/run-columns.ts';

const runsOf = (testRunId: string) => sql`(
  select unnest(array[execution_id, judge_execution_id]) from test_result where test_run_id = ${testRunId}
)`;

/**
 * Marks a test run that has not ended, and the runs of its cases and judges, as cancelled: from here on they are not
 * charged, and no further case begins. Returns whether this call did it.
 */
export async function requestTestRunCancel(tx: Tx, testRunId: string, actor = SERVICE): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('test_run')
    .set({ cancel_requested_at: sql`now()` })
    .where('id', '=', testRunId)
    .where('status', '=', 'started')
    .where('cancel_requested_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  // The runs are selected only now: the run of a case is accepted before the test run is marked, or not at all.
  const found = sql`execution_id in ${runsOf(testRunId)} and ${IS_OPEN}`;
  // An update would lock them in no order, and deadlock with others who lock several.
  await sql`select from run where ${found} order by execution_id for no key update`.execute(tx);
  await sql`update run set ${cancellation(actor)} where ${found}`.execute(tx);
  return true;
}

/**
 * Lists the test runs that have not ended and were not cancelled. Absent fields match every test run; organization,
 * project and flow are slugs.
 */
export function listCancellableTestRuns(
  db: Db,
  {
    organization,
    project,
    flow,
    since,
    until,
  }: {
    organization?: string | undefined;
    project?: string | undefined;
    flow?: string | undefined;
    since?: Date | undefined;
    until?: Date | undefined;
  },
) {
  return db
    .selectFrom('test_run')
    .innerJoin('flow', 'flow.id', 'test_run.flow_id')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select([
      'test_run.id',
      'project.organization_id as organizationId',
      'test_run.flow_id as flowId',
      'test_run.started_at as startedAt',
    ])
    .where('test_run.status', '=', 'started')
    .where('test_run.cancel_requested_at', 'is', null)
    .$if(organization !== undefined, (query) => query.where('organization.slug', '=', organization as string))
    .$if(project !== undefined, (query) => query.where('project.slug', '=', project as string))
    .$if(flow !== undefined, (query) => query.where('flow.slug', '=', flow as string))
    .$if(since !== undefined, (query) => query.where('test_run.started_at', '>=', since as Date))
    .$if(until !== undefined, (query) => query.where('test_run.started_at', '<', until as Date))
    .orderBy('test_run.started_at')
    .execute();
}

/** Lists the runs in flight of a test run's cases and judges, whose workflows are to be cancelled. */
export function listTestCaseRunsUnderWay(db: Db | Tx, testRunId: string) {
  return db
    .selectFrom('run')
    .select(CALL_IDS)
    .where(sql<boolean>`execution_id in ${runsOf(testRunId)}`)
    .where('status', '=', 'started')
    .execute();
}
