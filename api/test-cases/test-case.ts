// Test cases of flows: the functions behind the MCP tools of the same names and the HTTP endpoints. They take the
// caller (api/auth/caller.ts) and the tool's input, and return the tool's output. This file creates, replaces, lists
// and deletes test cases.
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import type { VisibleFlow } from '../../db/flows/find-flow.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import {
  deleteTestCaseRow,
  findTestCase,
  findTestCaseByName,
  listTestCases,
  loadTestCases,
  saveTestCase,
  type TestCaseRow,
  updateTestCase,
} from '../../db/test-runs/test-cases.ts';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Expectation, TestInput } from '../../flow/test-case.ts';
import { findIdleSchemas } from '../../platform/json-schema/find-idle-schemas.ts';
import type { OrganizationValidator } from '../../platform/json-schema/validator.ts';
import { type Caller, notVisible, requireLockedFlow, requireVisibleFlow } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { describeIdleSchema } from '../flows/draft-notes.ts';
import { parsedJson } from '../flows/written-flow.ts';
import { etagOf, isNamed, requireMatch } from '../http/etag.ts';
import { PARSE_OPTIONS, validationError } from '../http/json-body.ts';
import { onceFor } from '../http/keyed-request.ts';
import { invalidField } from '../http/request-errors.ts';
import { reserveBytes, toParts } from '../http/reserve-bytes.ts';
import { cutJson, cutText, shareOf, VALUE_MAX_CHARS } from '../http/write-json.ts';
import { requireParameterNames } from '../runs/calls/accept-run.ts';
import { findParametersProblem } from '../runs/calls/check-request.ts';
import { newTestCase } from './test-case-fields.ts';

/** The most characters of a test case: a test run copies all cases of its flow. */
export const CASE_MAX_CHARS = 500_000;
/** The values of a listed case that may be long: message, parameters, expectation, tools and their results. */
const VALUES_EACH = 5;

/** Parses a test case whose fields were not all checked. Throws VALIDATION_ERROR. */
export function readTestCase(input: unknown): z.output<typeof newTestCase> {
  const { data, error } = newTestCase.safeParse(input, PARSE_OPTIONS);
  if (error) throw validationError(error);
  return data;
}

export const savedTestCase = z.strictObject({
  test_case_id: z.guid(),
  created: z.boolean().meta({ description: 'false when it replaced the case of that name.' }),
});

export const listedTestCase = z.strictObject({
  test_case_id: z.string(),
  name: z.string(),
  message: z.string(),
  parameters: parsedJson,
  tools: parsedJson.optional(),
  tool_results: parsedJson.optional(),
  expectation: parsedJson,
});

/** Lists the test cases of a flow, with long values cut. Reserves memory for some at a time, as `reserveBytes` does. */
export async function describeTestCases(
  deps: Pick<ApiDeps, 'db' | 'gates'>,
  { flowId, organizationId }: Pick<VisibleFlow, 'flowId' | 'organizationId'>,
  gone?: AbortSignal,
): Promise<z.input<typeof listedTestCase>[]> {
  const testCases = await listTestCases(deps.db, flowId);
  const share = shareOf(testCases.length * VALUES_EACH, VALUE_MAX_CHARS);
  const described: z.input<typeof listedTestCase>[] = [];
  for (const { bytes, part } of toParts(testCases)) {
    using _permit = await reserveBytes(deps.gates.answers, organizationId, bytes, gone);
    const ids = part.map(({ id }) => id);
    for (const { id, name, input, expectation } of await loadTestCases(deps.db, ids))
      described.push({
        test_case_id: id,
        name,
        message: cutText(input.message, share),
        parameters: cutJson(input.parameters, share),
        ...(input.tools && { tools: cutJson(input.tools as Json, share) }),
        ...(input.tool_results && { tool_results: cutJson(input.tool_results, share) }),
        expectation: cutJson(expectation, share),
      });
  }
  return described;
}

/** Creates a test case, or replaces the flow's case of that name, unless If-None-Match names it. */
export async function createTestCase(
  deps: ApiDeps,
  caller: Caller,
  input: z.output<typeof newTestCase>,
  ifNoneMatch = '',
): Promise<z.input<typeof savedTestCase>> {
  const { access, author } = caller;
  const flow = await requireVisibleFlow(deps, input.flow_id, access);
  const { flowId, organizationId } = flow;
  const testCase = await checkTestCase(deps, organizationId, input);
  return inTransaction(deps.db, async (tx) => {
    await requireLockedFlow(tx, caller, flow);
    return onceFor(caller.keyed, tx, async () => {
      const replaced = ifNoneMatch && (await findTestCaseByName(tx, flowId, testCase.name));
      if (replaced && isNamed(ifNoneMatch, testCaseETag(replaced)))
        throw new ServiceError(
          'PRECONDITION_FAILED',
          'The flow has a test case of this name, and stays as it is: choose another name, or leave If-None-Match out to ' +
            'replace that one.',
          { etag: testCaseETag(replaced) },
        );
      const { id, created } = await saveTestCase(tx, testCase);
      const action = created ? 'test_case.create' : 'test_case.replace';
      const details = { flow_id: flowId, name: testCase.name };
      await recordChange(tx, author, { organizationId, action, resourceId: id, details });
      return { test_case_id: id, created };
    });
  });
}

/**
 * Replaces a test case of the flow, including its name. Throws NOT_FOUND, CONFLICT when another case has the name,
 * and PRECONDITION_FAILED when If-Match names another state.
 */
export async function changeTestCase(
  deps: ApiDeps,
  caller: Caller,
  testCaseId: string,
  input: z.output<typeof newTestCase>,
  ifMatch = '',
): Promise<void> {
  const { access, author } = caller;
  const flow = await requireVisibleFlow(deps, input.flow_id, access);
  const { flowId, organizationId } = flow;
  const testCase = await checkTestCase(deps, organizationId, input);
  await inTransaction(deps.db, async (tx) => {
    await requireLockedFlow(tx, caller, flow);
    const replaced = await findTestCase(tx, testCaseId);
    if (replaced) requireMatch(ifMatch, testCaseETag(replaced), 'test case');
    if (!(await updateTestCase(tx, testCaseId, testCase))) throw notVisible('test case');
    const change = { organizationId, action: 'test_case.replace', resourceId: testCaseId };
    await recordChange(tx, author, { ...change, details: { flow_id: flowId, name: testCase.name } });
  });
}

/**
 * Checks a case before its flow is locked, and completes its expectation. Throws VALIDATION_ERROR, and
 * SCHEMA_INVALID.
 */
async function checkTestCase(deps: ApiDeps, organizationId: string, input: z.output<typeof newTestCase>) {
  const { flow_id: flowId, name, message, parameters = {}, tools, tool_results, expectation } = input;
  requireParameterNames(parameters);
  const unknown = tool_results?.findIndex(
    (result) => !tools?.some((tool) => tool.function.name === result.name),
  );
  if (unknown !== undefined && unknown >= 0)
    throw invalidField(`tool_results.${unknown}.name`, 'must be the name of one of the tools of the case');
  const validator = deps.validator.of(organizationId);
  const problem = await findParametersProblem(validator, tools ?? []);
  if (problem) throw invalidField(problem.field, problem.message);
  const expected = await requireExpectation({ ...deps, validator }, expectation);
  const stored = {
    message,
    parameters,
    ...(tools?.length && { tools }),
    ...(tool_results?.length && { tool_results }),
  } as TestInput;
  if (JSON.stringify([stored, expected]).length > CASE_MAX_CHARS)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `A test case can have at most ${CASE_MAX_CHARS} characters of JSON, input and expectation together.`,
    );
  return { flowId, name, input: stored, expectation: expected };
}

/** Deletes a test case if it matches If-Match. The results of its runs stay. */
export async function deleteTestCase(
  deps: ApiDeps,
  caller: Caller,
  testCaseId: string,
  ifMatch = '',
): Promise<void> {
  const { access, author } = caller;
  const testCase = await findTestCase(deps.db, testCaseId);
  const flow = await requireVisibleFlow(deps, testCase?.flow_id, access, 'test case');
  const { flowId, organizationId } = flow;
  await inTransaction(deps.db, async (tx) => {
    await requireLockedFlow(tx, caller, flow, 'test case');
    const deleted = await findTestCase(tx, testCaseId);
    if (deleted) requireMatch(ifMatch, testCaseETag(deleted), 'test case');
    if (!deleted || !(await deleteTestCaseRow(tx, testCaseId))) throw notVisible('test case');
    const details = { flow_id: flowId, name: deleted.name };
    await recordChange(tx, author, {
      organizationId,
      action: 'test_case.delete',
      resourceId: testCaseId,
      details,
    });
  });
}

/** Computes the strong ETag of a stored test case. */
export function testCaseETag({
  name,
  input,
  expectation,
}: Pick<TestCaseRow, 'name' | 'input' | 'expectation'>): string {
  return etagOf(JSON.stringify([name, input, expectation]));
}

/**
 * Completes an expectation with the name of the judging model, so that the case keeps its meaning. Throws
 * VALIDATION_ERROR, and SCHEMA_INVALID.
 */
async function requireExpectation(
  {
    config,
    registry,
    validator,
  }: Pick<ApiDeps, 'config' | 'registry'> & { validator: OrganizationValidator },
  expected: z.output<typeof newTestCase>['expectation'],
): Promise<Expectation> {
  if (expected.type === 'json_schema') {
    await validator.requireValidSchema(expected.schema);
    // Every answer would pass.
    const idle = findIdleSchemas(expected.schema).find(({ pointer }) => pointer === '');
    if (idle) throw new ServiceError('SCHEMA_INVALID', describeIdleSchema(idle));
  }
  if (expected.type !== 'judge') return expected;
  const model = expected.model ?? config.judgeModel;
  if (model === undefined)
    throw invalidModel('is required: this service has no default model for judging (WEIR_JUDGE_MODEL).');
  try {
    registry.capabilities(model);
  } catch (error) {
    if (error instanceof ServiceError) throw invalidModel(error.message);
    throw error;
  }
  return { ...expected, model };
}

function invalidModel(message: string): ServiceError {
  return invalidField('expectation.model', message);
}
