// Test cases, test runs and results. The API creates cases and accepts test runs; activities/ records verdicts. This
// file: test runs, which run cases of a flow together against one version, or one snapshot of its draft.
import { createHash } from 'node:crypto';
import { type NotNull, sql } from 'kysely';
import type { FlowDefinition, Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { CANCELLED } from '../../flow/run.ts';
import type { TestInput, Verdict } from '../../flow/test-case.ts';
import type { PausePoint, ToolCallMessage } from '../../flow/tool-calls.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { snapshotDraft } from '../flows/draft-snapshots.ts';
import { insertCalls, type NewCall } from '../runs/insert-calls.ts';
import { versionOfRun } from '../runs/run-columns.ts';
import { storeInputs } from '../stored-values/stored-inputs.ts';
import { createTimedId, deriveId } from '../timed-id.ts';
import { COST_OF_TEST } from './test-results.ts';

export type TestRunRow = Awaited<ReturnType<typeof listTestRuns>>[number];

const TEST_RUN_CANCELLED = 'The test run was cancelled.';
const NOTHING_CAME = 'The case could not be run or judged because of a failure inside the service.';

/** Maximum number of test runs in flight of a flow: each has a copy of its cases. */
export const TEST_RUNS_UNDER_WAY_MAX = 20;

type NewTestRun = {
  id: string;
  flowId: string;
  flowVersionId: string;
  /** An actor of the audit log. */
  startedBy: string;
  tests: { executionId: string; testCaseId: string }[];
};

/**
 * Accepts a test run, once, with its present cases; returns whether this call did it. From here on its workflow
 * finishes it; the reconciler starts a missing workflow. The caller has locked the flow, so that its test runs are
 * accepted one after the other. Deleted cases are left out. Throws CONFLICT when all were deleted, and RATE_LIMITED
 * at the flow's maximum of test runs in flight.
 */
export function insertTestRun(
  db: Db | Tx,
  { id, flowId, flowVersionId, startedBy, tests }: NewTestRun,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('test_run')
      .values({ id, flow_id: flowId, flow_version_id: flowVersionId, started_by: startedBy })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) return false;
    await requireFewUnderWay(tx, flowId);
    const executionIds = tests.map(({ executionId }) => executionId);
    const testCaseIds = tests.map(({ testCaseId }) => testCaseId);
    const { numAffectedRows } = await sql`
      insert into test_result (execution_id, test_run_id, position, test_case_id, name, input, expectation)
      select test.execution_id, ${id}::uuid, test.position, test_case.id, name, input, expectation
      from unnest(${executionIds}::uuid[], ${testCaseIds}::uuid[]) with ordinality
        as test (execution_id, test_case_id, position)
      join test_case on test_case.id = test.test_case_id`.execute(tx);
    if (numAffectedRows === 0n) throw testCasesDeleted();
    await sql`
      update test_case set last_execution_id = result.execution_id from test_result result
      where result.test_run_id = ${id} and result.test_case_id = test_case.id`.execute(tx);
    return true;
  });
}

/** Counts the test run that was just inserted, too. */
async function requireFewUnderWay(tx: Tx, flowId: string): Promise<void> {
  const underWay = await tx
    .selectFrom('test_run')
    .select('id')
    .where('flow_id', '=', flowId)
    .where('status', '=', 'started')
    .limit(TEST_RUNS_UNDER_WAY_MAX + 1)
    .execute();
  if (underWay.length > TEST_RUNS_UNDER_WAY_MAX)
    throw new ServiceError(
      'RATE_LIMITED',
      `${TEST_RUNS_UNDER_WAY_MAX} test runs of the flow are under way, as many as may be: try again when one has ended, or cancel one.`,
    );
}

function testCasesDeleted(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    'What was to be tested is no longer there: its test cases were deleted.',
  );
}

/** Whether a run of mode `test` is a case's run, and not a judge's. */
export async function isTestOfCase(db: Db, executionId: string): Promise<boolean> {
  const results = db.selectFrom('test_result').select('execution_id');
  return (await results.where('execution_id', '=', executionId).executeTakeFirst()) !== undefined;
}

/** Gets a case of a test run, with its flow. Throws CANCELLED when the test run has ended. */
export function getTest(db: Db, executionId: string) {
  return db
    .selectFrom('test_result')
    .innerJoin('test_run', 'test_run.id', 'test_result.test_run_id')
    .innerJoin('flow', 'flow.id', 'test_run.flow_id')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .select([
      'project.organization_id as organizationId',
      'project.id as projectId',
      'flow.id as flowId',
      'test_run.id as testRunId',
      'test_run.flow_version_id as flowVersionId',
      'test_result.input',
      'test_result.expectation',
      'test_result.judge_execution_id as judgeId',
    ])
    .where('test_result.execution_id', '=', executionId)
    .where('test_run.status', '=', 'started')
    .executeTakeFirstOrThrow(() => new ServiceError(CANCELLED.code, 'The test run has ended.'));
}
type Test = Awaited<ReturnType<typeof getTest>>;

/** Accepts the run of a case, once: the version with the case's input. Throws CANCELLED. */
export async function acceptTest(db: Db, executionId: string): Promise<void> {
  const test = await getTest(db, executionId);
  await acceptCall(db, test, toNewCall(test, executionId));
}

/** The pause of a case's run, and the conversation with the results of the case. */
type AnsweredPause = {
  callId: string;
  pause: PausePoint;
  messages: ToolCallMessage[];
  /** The outputs of the earlier steps. */
  outputs: { [stepId: string]: Json };
};

/**
 * Accepts the call that answers the tool calls of a case's run, once; returns the id of the call, and its first step.
 * Throws CANCELLED.
 */
export async function acceptToolResults(
  db: Db,
  executionId: string,
  { steps }: FlowDefinition,
  { callId: paused, pause, messages, outputs }: AnsweredPause,
): Promise<{ callId: string; from: number }> {
  const test = await getTest(db, executionId);
  const { step_id, iterations, model } = pause;
  const from = steps.findIndex((step) => step.step_id === step_id);
  const previous = steps[from - 1];
  // Repeated, this accepts the same call.
  const callId = deriveId(executionId, createHash('sha256').update(paused).digest());
  const first = toNewCall(test, callId);
  await acceptCall(db, test, {
    ...first,
    input: {
      ...first.input,
      continuation: {
        ...(previous && { input: outputs[previous.step_id] ?? null }),
        from,
        outputs,
        resume: { step_id, iterations, model, messages },
      },
    },
    continues: {
      executionId,
      from,
      to: steps.length,
      concludes: true,
      after: paused === executionId ? null : paused,
    },
  });
  return { callId, from };
}

/**
 * Accepts a call of a test run; with `draft`, of that draft. A cancellation comes before, and rejects the call, or
 * after, and finds its run. Repeat it after InputBeingDeleted.
 */
async function acceptCall(db: Db, test: Test, call: NewCall, draft?: FlowDefinition): Promise<void> {
  const { testRunId, organizationId, flowId } = test;
  const stored = await storeInputs(db, organizationId, [call]);
  await db.transaction().execute(async (tx) => {
    if (draft) call.flowVersionId = await snapshotDraft(tx, flowId, draft);
    await insertCalls(tx, [call], stored);
    const { cancel_requested_at } = await tx
      .selectFrom('test_run')
      .select('cancel_requested_at')
      .where('id', '=', testRunId)
      .forShare()
      .executeTakeFirstOrThrow();
    if (cancel_requested_at) throw new ServiceError(CANCELLED.code, TEST_RUN_CANCELLED);
  });
}

/**
 * Accepts a run of the flow `judge`, once, on a case that has run; returns the run's executionId. Throws CANCELLED.
 */
export async function acceptJudge(
  db: Db,
  executionId: string,
  judge: FlowDefinition,
  input: TestInput,
): Promise<string> {
  const test = await getTest(db, executionId);
  const { judgeId } = await db
    .updateTable('test_result')
    .set({ judge_execution_id: sql`coalesce(judge_execution_id, ${createTimedId()}::uuid)` })
    .where('execution_id', '=', executionId)
    .returning('judge_execution_id as judgeId')
    .$narrowType<{ judgeId: NotNull }>()
    .executeTakeFirstOrThrow();
  await acceptCall(db, test, toNewCall({ ...test, input }, judgeId), judge);
  return judgeId;
}

function toNewCall(
  { organizationId, projectId, flowId, flowVersionId, input: { tool_results: _, ...input } }: Test,
  callId: string,
): NewCall {
  const of = { organizationId, projectId, flowId, flowVersionId };
  return {
    ...of,
    callId,
    mode: 'test',
    environment: 'test',
    input: { ...input, block_overrides: {} },
  };
}

/** Records the verdict on a case whose runs have ended, once, with their costs. */
export async function recordVerdict(db: Db, executionId: string, { status, why }: Verdict): Promise<void> {
  await db
    .updateTable('test_result')
    .set({ status, why: JSON.stringify(why), cost_microcredits: COST_OF_TEST })
    .where('execution_id', '=', executionId)
    .where('status', '=', 'pending')
    .execute();
}

/**
 * Records the end of a test run: as cancelled when that was requested. A case without a verdict becomes an error.
 * Deletes the copies of the cases, which nothing reads any more.
 */
export function finishTestRun(db: Db, testRunId: string): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable('test_run')
      .set({
        status: sql`case when cancel_requested_at is null then 'completed' else 'cancelled' end`,
        finished_at: sql`now()`,
      })
      .where('id', '=', testRunId)
      .where('status', '=', 'started')
      .returning('status')
      .executeTakeFirst();
    if (!ended) return;
    const why = ended.status === 'cancelled' ? TEST_RUN_CANCELLED : NOTHING_CAME;
    const isPending = sql`status = 'pending'`;
    await tx
      .updateTable('test_result')
      .set({
        input: '{}',
        expectation: '{}',
        status: sql`case when ${isPending} then 'error' else status end`,
        why: sql`case when ${isPending} then ${JSON.stringify(why)}::json else why end`,
        // Cancelled runs are not charged any more.
        ...(ended.status === 'cancelled' && { cost_microcredits: COST_OF_TEST }),
      })
      .where('test_run_id', '=', testRunId)
      .execute();
  });
}

/** Gets a test run with the data that starts its workflow. */
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
      versionOfRun().as('version'),
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

/** Lists the test runs of a flow, newest first, starting after `after`, with the number of cases for each result. */
export function listTestRuns(
  db: Db,
  flowId: string,
  { after, limit }: { after?: string | undefined; limit: number },
) {
  const page = db
    .selectFrom('test_run')
    .select(['id', 'status', 'started_by', 'started_at', 'finished_at', 'flow_version_id'])
    .where('flow_id', '=', flowId)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(started_at, id) < (select last.started_at, last.id from test_run as last where last.id = ${after})`,
      ),
    )
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  const count = (status: string) =>
    sql<number>`count(*) filter (where test_result.status = ${sql.lit(status)})::int`;
  return db
    .selectFrom(page.as('page'))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('test_result')
          .select([
            sql<number>`count(*)::int`.as('total'),
            count('passed').as('passed'),
            count('failed').as('failed'),
            count('error').as('errors'),
            count('pending').as('pending'),
            sql<number>`coalesce(sum(${COST_OF_TEST}), 0)::bigint`.as('cost_microcredits'),
          ])
          .whereRef('test_result.test_run_id', '=', 'page.id')
          .as('counts'),
      (join) => join.onTrue(),
    )
    .innerJoin('flow_version', 'flow_version.id', 'page.flow_version_id')
    .selectAll('page')
    .select(versionOfRun().as('version'))
    .select(['total', 'passed', 'failed', 'errors', 'pending', 'cost_microcredits'])
    .orderBy('page.started_at', 'desc')
    .orderBy('page.id', 'desc')
    .execute();
}
