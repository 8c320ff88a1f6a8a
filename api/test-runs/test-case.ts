// Test cases of a flow: created, replaced and deleted.
import { z } from 'zod';
import type { Tx } from '../../db/connect.ts';
import type { Reach } from '../../db/reach.ts';
import { deleteTestCase as deleteRow, findTestCase, saveTestCase } from '../../db/test-cases.ts';
import { throughOutage } from '../../db/through-outage.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Expectation, TestInput } from '../../flow/test-case.ts';
import { requireParameterNames } from '../accept-run.ts';
import type { ApiDeps } from '../context.ts';
import { nameSchema, parsedJson } from '../flow-schema.ts';
import { requireFlow } from './require-flow.ts';

const TEXT_MAX_LENGTH = 20_000;

const expectation = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('equals'), value: parsedJson }),
      z.strictObject({
        type: z.literal('json_schema'),
        schema: z.union([z.boolean(), z.record(z.string(), parsedJson)]),
      }),
      z.strictObject({ type: z.literal('contains'), text: z.string().min(1).max(TEXT_MAX_LENGTH) }),
      z.strictObject({
        type: z.literal('judge'),
        criteria: z.string().min(1).max(TEXT_MAX_LENGTH),
        model: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .meta({ description: 'provider/model that judges; the default of the service when absent.' }),
      }),
    ],
    { error: 'is an object whose type is equals, json_schema, contains or judge' },
  )
  .meta({
    description:
      'What the answer of the flow (the output of its last step) must be. equals: this JSON value. json_schema: one that matches. contains: this text in it. judge: a model finds that it meets the criteria.',
  });

export const newTestCase = z.strictObject({
  flow_id: z.uuid(),
  name: nameSchema.meta({ description: 'Unique in the flow: a case of the same name is replaced.' }),
  message: z.string().meta({ description: 'The message that the flow is given.' }),
  parameters: z.record(z.string(), parsedJson).optional(),
  expectation,
});
export const savedTestCase = z.strictObject({
  test_case_id: z.uuid(),
  created: z.boolean().meta({ description: 'false: it replaced the case of that name.' }),
});

/** Written in the transaction of a change. */
export type Audit = (
  tx: Tx,
  change: { organizationId: string; action: string; resourceId: string; details: { flow_id: string } },
) => Promise<void>;

/** Saves a test case, in place of the flow's case of that name. */
export async function createTestCase(
  deps: ApiDeps,
  reach: Reach,
  input: z.output<typeof newTestCase>,
  audit: Audit,
): Promise<z.input<typeof savedTestCase>> {
  const { flow_id, name, message, parameters = {} } = input;
  const { organizationId } = await requireFlow(deps, flow_id, reach);
  requireParameterNames(parameters);
  const expected = await requireExpectation(deps, input.expectation);
  const given = { message, parameters } as TestInput;
  return deps.db.transaction().execute(async (tx) => {
    const { id, created } = await saveTestCase(tx, {
      flowId: flow_id,
      name,
      input: given,
      expectation: expected,
    });
    const action = created ? 'test_case.create' : 'test_case.replace';
    await audit(tx, { organizationId, action, resourceId: id, details: { flow_id } });
    return { test_case_id: id, created };
  });
}

/** Deletes a test case; what came of it when it was run stays. */
export async function deleteTestCase(
  deps: ApiDeps,
  reach: Reach,
  testCaseId: string,
  audit: Audit,
): Promise<void> {
  const testCase = await throughOutage(() => findTestCase(deps.db, testCaseId));
  const { organizationId, flowId } = await requireFlow(deps, testCase?.flow_id, reach, 'test case');
  await deps.db.transaction().execute(async (tx) => {
    await deleteRow(tx, testCaseId);
    const details = { flow_id: flowId };
    await audit(tx, { organizationId, action: 'test_case.delete', resourceId: testCaseId, details });
  });
}

/** With the model that judges named, so that the case means the same tomorrow. Throws VALIDATION_ERROR, SCHEMA_INVALID. */
async function requireExpectation(
  { config, registry, validator }: ApiDeps,
  expected: z.output<typeof expectation>,
): Promise<Expectation> {
  if (expected.type === 'json_schema') await validator.check(expected.schema);
  if (expected.type !== 'judge') return expected;
  const model = expected.model ?? config.judgeModel;
  if (model === undefined)
    throw invalidModel('is required: this service has no default model that judges (WEIR_JUDGE_MODEL).');
  try {
    registry.capabilities(model);
  } catch (error) {
    if (error instanceof ServiceError) throw invalidModel(error.message);
    throw error;
  }
  return { ...expected, model };
}

function invalidModel(message: string): ServiceError {
  const field = 'expectation.model';
  return new ServiceError('VALIDATION_ERROR', `${field}: ${message}`, { errors: [{ field, message }] });
}
