// Schemas and conversions of test runs in responses.
import { z } from 'zod';
import type { VisibleFlow } from '../../db/flows/find-flow.ts';
import { TEST_RUN_STATUSES } from '../../db/tables/test-runs.ts';
import { type listResultsOf, listTestResults, type TestResultRow } from '../../db/test-runs/test-results.ts';
import type { TestRunRow } from '../../db/test-runs/test-runs.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { log } from '../../platform/observability/log.ts';
import type { ApiDeps } from '../deps.ts';
import { parsedJson } from '../flows/written-flow.ts';
import { VALUE_MAX_CHARS } from '../http/write-json.ts';
import { readCutResult } from '../runs/read-cut-result.ts';

const count = z.int().min(0);
export const testStatus = z.enum(['pending', 'passed', 'failed', 'error']).meta({
  description:
    'failed: the answer was not as expected. error: the run failed or could not be judged. pending: the case has not ended.',
});

export const testRun = z.strictObject({
  test_run_id: z.guid(),
  flow_id: z.guid(),
  status: z.enum(TEST_RUN_STATUSES).meta({
    description:
      'started: some cases have not ended. To poll, call get_test_run_trace with the test_run_id as flow_run_id.',
  }),
  version: z.number(),
  total: count,
  passed: count,
  failed: count,
  errors: count,
  pending: count,
  cost: z.number().meta({ description: 'Credits for runs and judges, so far.' }),
  results: z.array(
    z.strictObject({
      test_case_id: z.guid(),
      name: z.string(),
      status: testStatus,
      why: z
        .string()
        .nullable()
        .meta({ description: 'Why the case has not passed. A judge also explains a pass.' }),
      flow_run_id: z.guid().meta({ description: 'The run, for get_test_run_trace.' }),
      judge_run_id: z
        .guid()
        .nullable()
        .meta({ description: 'The run of the judge, for get_test_run_trace.' }),
      ms: count.nullable(),
      cost: z.number(),
      answer: parsedJson.optional().meta({
        description:
          'The answer of the flow, if only one case ran. A long answer is cut: get_test_run_trace shows all of it.',
      }),
    }),
  ),
});
export type TestRun = z.input<typeof testRun>;

/** The version of a test run. */
export const testedNumber = z.int().min(0).meta({ description: '0: the draft.' });

export const listedTestRun = testRun
  .omit({ results: true })
  .extend({
    version: testedNumber,
    started_by: z.string().nullable().meta({
      description: 'A user id, `api_key/` and a key id, or `operator`; null if unknown.',
    }),
    started_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ListedTestRun' });

/** Converts the row of a test run to an entry of a list. */
export function toListedTestRun(row: TestRunRow, flowId: string): z.input<typeof listedTestRun> {
  return {
    test_run_id: row.id,
    flow_id: flowId,
    status: row.status,
    version: row.version,
    total: row.total,
    passed: row.passed,
    failed: row.failed,
    errors: row.errors,
    pending: row.pending,
    cost: row.cost_microcredits / MICROCREDITS_PER_CREDIT,
    started_by: row.started_by,
    started_at: row.started_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** Converts the last result of a case to its field in responses; null without a result. */
export function toLastResult(row: Awaited<ReturnType<typeof listResultsOf>>[number] | undefined) {
  return row
    ? {
        test_run_id: row.test_run_id,
        version: row.version,
        flow_run_id: row.execution_id,
        status: row.status,
        why: row.why,
        tested_at: row.tested_at.toISOString(),
        ms: msOf(row),
        cost: row.cost_microcredits / MICROCREDITS_PER_CREDIT,
      }
    : null;
}

function msOf({ started_at, finished_at }: Pick<TestResultRow, 'started_at' | 'finished_at'>): number | null {
  return finished_at && started_at && finished_at.getTime() - started_at.getTime();
}

/**
 * Describes the state of a test run, with the answer of the flow if the test run has one case. Throws RATE_LIMITED when
 * no memory for the answer is free in time, and REQUEST_TIMEOUT when `gone` aborts first. Unless `needsAnswer`, omits an
 * answer that cannot be read.
 */
export async function describeTestRun(
  deps: Pick<ApiDeps, 'db' | 'gates'>,
  testRunId: string,
  { flowId, organizationId }: Pick<VisibleFlow, 'flowId' | 'organizationId'>,
  { needsAnswer = true, gone }: { needsAnswer?: boolean; gone?: AbortSignal | undefined } = {},
): Promise<TestRun> {
  const { status, version, rows } = await listTestResults(deps.db, testRunId);
  const only = rows.length === 1 ? rows[0] : undefined;
  const result = only?.result && {
    organizationId,
    callId: only.concluded_by ?? only.execution_id,
    result: only.result,
  };
  const answer =
    result &&
    (await readCutResult(deps, result, VALUE_MAX_CHARS, gone).then(
      (answer) => ({ answer }),
      (error: unknown) => {
        if (needsAnswer) throw error;
        log.warn({ err: error, testRunId }, 'The answer of a test run could not be read');
        return undefined;
      },
    ));
  const number = (wanted: TestResultRow['status']) => rows.filter((row) => row.status === wanted).length;
  return {
    test_run_id: testRunId,
    flow_id: flowId,
    status,
    version,
    total: rows.length,
    passed: number('passed'),
    failed: number('failed'),
    errors: number('error'),
    pending: number('pending'),
    cost: rows.reduce((sum, row) => sum + row.cost_microcredits, 0) / MICROCREDITS_PER_CREDIT,
    results: rows.map((row) => ({
      test_case_id: row.test_case_id,
      name: row.name,
      status: row.status,
      why: row.why,
      flow_run_id: row.execution_id,
      judge_run_id: row.judge_execution_id,
      ms: msOf(row),
      cost: row.cost_microcredits / MICROCREDITS_PER_CREDIT,
      ...answer,
    })),
  };
}
