// The endpoints of a flow's test cases.
import { z } from 'zod';
import {
  findTestCase,
  listTestCasePage,
  type TestCaseRow,
  testCaseNameTaken,
  tooManyTestCases,
} from '../../db/test-runs/test-cases.ts';
import { listResultsOf } from '../../db/test-runs/test-results.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import { notVisible, toCaller } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { requireFlow } from '../flows/flow-of-path.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import { CHANGED, etagOfWhat, ifMatch } from '../reference/if-match.ts';
import { conflict, done, FLOWS_PATH, PROJECT_ERRORS } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, pageWithETag, VALIDATION_ERRORS } from '../reference/operations.ts';
import * as example from '../reference/test-run-examples.ts';
import { toLastResult } from './describe-test-run.ts';
import { changeTestCase, createTestCase, deleteTestCase, testCaseETag } from './test-case.ts';
import { testCaseRequest } from './test-case-fields.ts';
import { LISTED_MAX_CHARS, testCaseList, testCaseRecord } from './test-case-schemas.ts';

const CASES_PATH = `${FLOWS_PATH}/:flow_id/test-cases`;
const CASE_PATH = `${CASES_PATH}/:test_case_id`;
// PostgreSQL rejects U+0000 in texts; no name has one.
const listQuery = pageQuery(z.string().regex(/^[^\0]*$/, 'must not hold U+0000'));
const common = { tags: ['Tests'] };
const saved = (description: string) =>
  answer(
    description,
    testCaseRecord,
    { testCase: example.testCase },
    etagOfWhat('Names the test case as it is now.'),
  );
const createOnly = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({ description: '`*` to create, and replace nothing: 412 when a case has the name.' }),
});

export function testCaseRoutes(deps: ApiDeps): Route[] {
  const load = loadProject(deps, 'member');
  const toRead = [...identifyCaller(deps, 'read', 'deploy'), load];
  const toWrite = [...identifyCaller(deps, 'deploy'), load];
  const requestBody = body(testCaseRequest, { testCase: example.newTestCase });
  return [
    {
      method: 'post',
      path: CASES_PATH,
      operation: {
        ...common,
        operationId: 'saveTestCase',
        summary: 'Create a test case, or replace the one of the same name',
        requestParams: { header: createOnly },
        requestBody,
        responses: {
          200: saved('The case of that name is replaced.'),
          201: saved('The case is created.'),
          ...PROJECT_ERRORS,
          ...conflict(
            'The flow has as many test cases as it may have, or they would be too large together.',
            tooManyTestCases().message,
          ),
          ...CHANGED.testCase,
          ...BODY_ERRORS,
        },
      },
      handlers: [...toWrite, readBody(deps, testCaseRequest), takeIdempotencyKey(deps), save(deps)],
    },
    {
      method: 'get',
      path: CASES_PATH,
      operation: {
        ...common,
        operationId: 'listTestCases',
        summary: 'List the test cases of a flow, by name',
        requestParams: { query: listQuery, header: ifNoneMatch },
        responses: {
          ...pageWithETag('A page of test cases.', testCaseList, { page: example.testCasePage }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...toRead, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'get',
      path: CASE_PATH,
      operation: {
        ...common,
        operationId: 'getTestCase',
        summary: 'Get a test case',
        responses: { 200: saved('The test case.'), ...PROJECT_ERRORS },
      },
      handlers: [...toRead, getOne(deps)],
    },
    {
      method: 'put',
      path: CASE_PATH,
      operation: {
        ...common,
        operationId: 'replaceTestCase',
        summary: 'Replace a test case, its name included',
        requestParams: { header: ifMatch },
        requestBody,
        responses: {
          200: saved('The case is replaced.'),
          ...PROJECT_ERRORS,
          ...conflict(
            'Another case has the name, or the cases of the flow would be too large together.',
            testCaseNameTaken('in French').message,
          ),
          ...CHANGED.testCase,
          ...BODY_ERRORS,
        },
      },
      handlers: [...toWrite, readBody(deps, testCaseRequest), replace(deps)],
    },
    {
      method: 'delete',
      path: CASE_PATH,
      operation: {
        ...common,
        operationId: 'deleteTestCase',
        summary: 'Delete a test case',
        description: 'The results of its runs stay.',
        requestParams: { header: ifMatch },
        responses: { 204: done('The case is deleted.'), ...PROJECT_ERRORS, ...CHANGED.testCase },
      },
      handlers: [...toWrite, remove(deps)],
    },
  ];
}

function save(deps: ApiDeps): ApiMiddleware {
  return async function save(ctx) {
    const { id: flow_id } = await requireFlow(deps.db, ctx);
    const input = { ...(ctx.state.body as z.output<typeof testCaseRequest>), flow_id };
    const caller = toCaller(ctx.state);
    await reserveEcho(deps, ctx);
    const { test_case_id, created } = await createTestCase(deps, caller, input, ctx.get('If-None-Match'));
    ctx.status = created ? 201 : 200;
    answerTestCase(ctx, await getCase(deps, flow_id, test_case_id));
  };
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor = '' } = ctx.state.query as PageQuery;
    const { id } = await requireFlow(db, ctx);
    const rows = await listTestCasePage(db, id, {
      after: cursor,
      limit: limit + 1,
      maxChars: LISTED_MAX_CHARS,
    });
    const { page, end } = toPage(rows, limit, ({ name }) => name);
    const results = await listResultsOf(
      db,
      page.flatMap((row) => row.last_execution_id ?? []),
    );
    const resultOf = new Map(results.map((result) => [result.execution_id, result]));
    const testCases = page.map((row) => ({
      ...toStored(row),
      message: row.message,
      expected: row.expected,
      has_tools: row.has_tools,
      last_result: toLastResult(resultOf.get(row.last_execution_id ?? '')),
    }));
    answerWithETag(ctx, { test_cases: testCases, ...end });
  };
}

function getOne(deps: ApiDeps): ApiMiddleware {
  return async function getOne(ctx) {
    answerTestCase(ctx, await caseOfPath(deps, ctx));
  };
}

function replace(deps: ApiDeps): ApiMiddleware {
  return async function replace(ctx) {
    const { id, flow_id } = await caseOfPath(deps, ctx);
    await reserveEcho(deps, ctx);
    const input = { ...(ctx.state.body as z.output<typeof testCaseRequest>), flow_id };
    await changeTestCase(deps, toCaller(ctx.state), id, input, ctx.get('If-Match'));
    answerTestCase(ctx, await getCase(deps, flow_id, id));
  };
}

function remove(deps: ApiDeps): ApiMiddleware {
  return async function remove(ctx) {
    const { id } = await caseOfPath(deps, ctx);
    await deleteTestCase(deps, toCaller(ctx.state), id, ctx.get('If-Match'));
    ctx.status = 204;
  };
}

/** Reserves memory for the response before the write; the response repeats the request. */
async function reserveEcho(deps: ApiDeps, ctx: ApiContext): Promise<void> {
  const bytes = Buffer.byteLength(JSON.stringify(ctx.state.body));
  await reserveAnswer(deps, ctx, ctx.state.project.organization_id, bytes);
}

async function caseOfPath(deps: ApiDeps, ctx: ApiContext): Promise<TestCaseRow> {
  const { id } = await requireFlow(deps.db, ctx);
  return getCase(deps, id, ctx.params.test_case_id ?? '');
}

/** Gets a case of a flow. Throws the same NOT_FOUND for cases of other flows and for unknown ids. */
export async function getCase({ db }: ApiDeps, flowId: string, id: string): Promise<TestCaseRow> {
  const row = UUID_PATTERN.test(id) ? await findTestCase(db, id) : undefined;
  if (row?.flow_id !== flowId) throw notVisible('test case');
  return row;
}

function toStored(row: Pick<TestCaseRow, 'id' | 'name' | 'created_at' | 'updated_at'>) {
  return {
    test_case_id: row.id,
    name: row.name,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function answerTestCase(ctx: ApiContext, row: TestCaseRow): void {
  const { message, parameters, tools, tool_results } = row.input;
  ctx.set('ETag', testCaseETag(row));
  ctx.body = { ...toStored(row), message, parameters, tools, tool_results, expectation: row.expectation };
}
