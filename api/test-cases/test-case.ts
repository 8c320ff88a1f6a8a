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
import { ServiceError } from '../../flow/errors.ts';
import type { Expectation, TestInput } from '../../flow/test-case.ts';
import type { OrganizationValidator } from '../../platform/json-schema/validator.ts';
import { type Caller, notVisible, requireLockedFlow, requireVisibleFlow } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { nameSchema, parsedJson } from '../flows/written-flow.ts';
import { etagOf, isNamed, requireMatch } from '../http/etag.ts';
import { onceFor } from '../http/keyed-request.ts';
import { invalidField } from '../http/request-errors.ts';
import { reserveBytes, toParts } from '../http/reserve-bytes.ts';
import { cutJson, cutText, shareOf, VALUE_MAX_CHARS } from '../http/write-json.ts';
import { requireParameterNames } from '../runs/calls/accept-run.ts';

export const TEXT_MAX_LENGTH = 20_000;

const expectation = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('equals'), value: parsedJson }),
      z.strictObject({
        type: z.literal('json_schema'),
        schema: z.union([z.boolean(), z.record(z.string(), parsedJson)], {
          error: 'must be a JSON Schema as an object, such as {"type": "object"}',
        }),
      }),
      z.strictObject({ type: z.literal('contains'), text: z.string().min(1).max(TEXT_MAX_LENGTH) }),
      z.strictObject({
        type: z.literal('judge'),
        criteria: z.string().min(1).max(TEXT_MAX_LENGTH),
        model: z.string().min(1).max(200).optional().meta({
          description: 'The model that judges, as provider/model; the default of the service when absent.',
        }),
      }),
    ],
    {
      error: (issue) =>
        issue.code === 'invalid_union'
          ? 'must have a type: equals, json_schema, contains or judge'
          : issue.code === 'invalid_type' && issue.input !== undefined
            ? 'must be an object with a type, such as {"type": "contains", "text": "…"}'
            : undefined,
    },
  )
  .meta({
    description:
      'What the answer of the flow must be. equals: this JSON value. json_schema: a value that matches the schema. contains: a value with this text in it. judge: a value that meets the criteria, as a model judges.',
  });

/** The most characters of a test case: a test run copies all cases of its flow. */
export const CASE_MAX_CHARS = 500_000;
/** The values of a listed case that may be long: message, parameters, expectation. */
const VALUES_EACH = 3;

export const newTestCase = z.strictObject({
  flow_id: z.guid(),
  name: nameSchema.meta({ description: 'Unique in the flow: replaces the case of the same name.' }),
  message: z.string().meta({ description: 'The message to the flow.' }),
  parameters: z.record(z.string(), parsedJson).optional(),
  expectation,
});
export const savedTestCase = z.strictObject({
  test_case_id: z.guid(),
  created: z.boolean().meta({ description: 'false when it replaced the case of that name.' }),
});

export const listedTestCase = z.strictObject({
  test_case_id: z.string(),
  name: z.string(),
  message: z.string(),
  parameters: parsedJson,
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
      const details = { flow_id: flowId };
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
    await recordChange(tx, author, { ...change, details: { flow_id: flowId } });
  });
}

/**
 * Checks a case before its flow is locked, and completes its expectation. Throws VALIDATION_ERROR, and
 * SCHEMA_INVALID.
 */
async function checkTestCase(
  deps: ApiDeps,
  organizationId: string,
  { flow_id: flowId, name, message, parameters = {}, expectation }: z.output<typeof newTestCase>,
) {
  requireParameterNames(parameters);
  const expected = await requireExpectation(
    { ...deps, validator: deps.validator.of(organizationId) },
    expectation,
  );
  const input = { message, parameters } as TestInput;
  if (JSON.stringify([input, expected]).length > CASE_MAX_CHARS)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `A test case can have at most ${CASE_MAX_CHARS} characters of JSON, input and expectation together.`,
    );
  return { flowId, name, input, expectation: expected };
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
    if (!(await deleteTestCaseRow(tx, testCaseId))) throw notVisible('test case');
    const details = { flow_id: flowId };
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
  expected: z.output<typeof expectation>,
): Promise<Expectation> {
  if (expected.type === 'json_schema') await validator.requireValidSchema(expected.schema);
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
