// What the answer of a flow under test must be.
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { Expectation } from '../../flow/test-case.ts';
import type { OrganizationValidator } from '../../json-schema/validator.ts';
import type { ApiDeps } from '../deps.ts';
import { parsedJson } from '../flows/written-flow.ts';

const TEXT_MAX_LENGTH = 20_000;

export const expectation = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('equals'), value: parsedJson }),
      z.strictObject({
        type: z.literal('json_schema'),
        schema: z.union([z.boolean(), z.record(z.string(), parsedJson)], {
          error: 'is a JSON Schema as an object, such as {"type": "object"}',
        }),
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
    {
      error: (issue) =>
        issue.code === 'invalid_union'
          ? 'has a type: equals, json_schema, contains or judge'
          : issue.code === 'invalid_type' && issue.input !== undefined
            ? 'is an object with a type, such as {"type": "contains", "text": "…"}'
            : undefined,
    },
  )
  .meta({
    description:
      'What the answer of the flow (the output of its last step) must be. equals: this JSON value. json_schema: one that matches. contains: this text in it. judge: a model finds that it meets the criteria.',
  });

/** With the model that judges named, so that the case means the same tomorrow. Throws VALIDATION_ERROR, SCHEMA_INVALID. */
export async function requireExpectation(
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
