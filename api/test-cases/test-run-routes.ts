// The endpoints of test runs: run cases on the draft or a version, list and read test runs, cancel one.

import { z } from 'zod';
import { findTestRun } from '../../db/test-runs/test-results.ts';
import { listTestRuns } from '../../db/test-runs/test-runs.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import { notVisible, toCaller } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { requireFlow } from '../flows/flow-of-path.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { pageLimit, pageOf, pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { unknownCursor } from '../http/request-errors.ts';
import { incomplete } from '../reference/flow-examples.ts';
import { conflict, FLOWS_PATH, PROJECT_ERRORS } from '../reference/management-operations.ts';
import {
  answer,
  BODY_ERRORS,
  body,
  COMMON_ERRORS,
  errorAnswer,
  pageWithETag,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';
import * as example from '../reference/test-run-examples.ts';
import { cancelledTestRun, stoppingTestRun } from '../reference/test-run-examples.ts';
import { MAY_NOT_RUN } from '../runs/run-errors.ts';
import { cancelTestRun } from './cancel-test-run.ts';
import {
  describeTestRun,
  listedTestRun,
  testedNumber,
  testRun,
  toListedTestRun,
} from './describe-test-run.ts';
import { NO_TEST_CASES, runAllTests, runTestCase } from './run-tests.ts';
import { getCase } from './test-case-routes.ts';
import { testRunRequest } from './test-case-schemas.ts';

const RUNS_PATH = `${FLOWS_PATH}/:flow_id/test-runs`;
const common = { tags: ['Tests'] };

const listQuery = pageQuery(z.uuid('must be a nextCursor of this list')).extend({
  // Each test run may have 200 cases, whose costs are added up.
  limit: pageLimit,
});

const testRunList = pageOf('TestRunList', 'test_runs', listedTestRun);

const testRunRecord = testRun.extend({ version: testedNumber }).meta({ id: 'TestRun' });

export function testRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: '/api/v1/test-runs/:test_run_id/cancel',
      operation: {
        operationId: 'cancelTestRun',
        summary: 'Cancel a test run',
        description:
          'Cancels the runs of its cases; no further case begins, and nothing more is charged. This also works for a flow that was never published. You can repeat the request. The request body is ignored.',
        tags: ['Tests'],
        responses: {
          200: answer('The test run had already ended, and is unchanged.', testRunRecord, {
            ended: cancelledTestRun,
          }),
          202: answer('The current test run; it ends within seconds.', testRunRecord, {
            stopping: stoppingTestRun,
          }),
          ...COMMON_ERRORS,
          404: errorAnswer('The test run does not exist, or belongs to a project that you cannot access.', {
            NOT_FOUND: 'There is no such test run among those you may see.',
          }),
        },
      },
      handlers: [...identifyCaller(deps, 'run', 'deploy'), cancel(deps)],
    },
  ];
}

function cancel(deps: ApiDeps): ApiMiddleware {
  return async function cancel(ctx) {
    const { test_run_id: id = '' } = ctx.params;
    if (!UUID_PATTERN.test(id)) throw notVisible('test run');
    const { had, testRun } = await cancelTestRun(deps, toCaller(ctx.state), id);
    ctx.status = had === 'ended' ? 200 : 202;
    ctx.body = testRun;
  };
}

export function flowTestRunRoutes(deps: ApiDeps): Route[] {
  const load = loadProject(deps, 'member');
  const toRead = [...identifyCaller(deps, 'read', 'deploy'), load];
  const toWrite = [...identifyCaller(deps, 'deploy'), load];
  return [
    {
      method: 'post',
      path: RUNS_PATH,
      operation: {
        ...common,
        operationId: 'runTests',
        summary: 'Run one test case of a flow, or all',
        description:
          'Runs the draft, which must be complete, or a version, at its usual cost. Answers at once. Poll the test run until its status is no longer `started`.',
        requestBody: body(testRunRequest, { all: {}, one: { test_case_id: example.testCase.test_case_id } }),
        responses: {
          202: answer('The test run is accepted.', testRunRecord, { started: example.stoppingTestRun }),
          ...PROJECT_ERRORS,
          ...BODY_ERRORS,
          400: errorAnswer(
            'The draft is not complete (`detail.problems`), or the request is not valid HTTP.',
            {
              INVALID_TREE: incomplete,
            },
          ),
          ...MAY_NOT_RUN,
          ...conflict('The flow has no test cases.', NO_TEST_CASES),
        },
      },
      handlers: [...toWrite, readBody(deps, testRunRequest), takeIdempotencyKey(deps), start(deps)],
    },
    {
      method: 'get',
      path: RUNS_PATH,
      operation: {
        ...common,
        operationId: 'listTestRuns',
        summary: 'List the test runs of a flow, newest first',
        requestParams: { query: listQuery, header: ifNoneMatch },
        responses: {
          ...pageWithETag('A page of test runs.', testRunList, { page: example.testRunPage }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...toRead, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'get',
      path: `${RUNS_PATH}/:test_run_id`,
      operation: {
        ...common,
        operationId: 'getTestRun',
        summary: 'Get a test run of a flow, with its results',
        responses: {
          200: answer('The test run as it stands.', testRunRecord, { ended: example.cancelledTestRun }),
          ...PROJECT_ERRORS,
        },
      },
      handlers: [...toRead, getOne(deps)],
    },
  ];
}

function start(deps: ApiDeps): ApiMiddleware {
  return async function start(ctx) {
    const { test_case_id: id, version } = ctx.state.body as z.output<typeof testRunRequest>;
    const flow = await requireFlow(deps.db, ctx);
    const caller = toCaller(ctx.state);
    const options = { version, waitMs: 0, gone: readerSignal(ctx.res, deps.stopping) };
    ctx.body =
      id === undefined
        ? await runAllTests(deps, caller, flow.id, options)
        : await runTestCase(deps, caller, (await getCase(deps, flow.id, id)).id, options);
    ctx.status = 202;
  };
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor: after } = ctx.state.query as z.output<typeof listQuery>;
    const { id: flowId } = await requireFlow(db, ctx);
    if (after !== undefined && (await findTestRun(db, after))?.flow_id !== flowId) throw unknownCursor();
    const rows = await listTestRuns(db, flowId, { after, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, ({ id }) => id);
    answerWithETag(ctx, { test_runs: page.map((row) => toListedTestRun(row, flowId)), ...end });
  };
}

function getOne(deps: ApiDeps): ApiMiddleware {
  return async function getOne(ctx) {
    const { id: flowId } = await requireFlow(deps.db, ctx);
    const { test_run_id: id = '' } = ctx.params;
    const row = UUID_PATTERN.test(id) ? await findTestRun(deps.db, id) : undefined;
    if (row?.flow_id !== flowId) throw notVisible('test run');
    const { organization_id: organizationId } = ctx.state.project;
    ctx.body = await describeTestRun(deps, id, { flowId, organizationId });
  };
}
