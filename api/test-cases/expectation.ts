import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { Expectation } from '../../flow/test-case.ts';
import type { OrganizationValidator } from '../../platform/json-schema/validator.ts';
import type { ApiDeps } from '../deps.ts';
import { parsedJson } from '../flows/written-flow.ts';
import { invalidField } from '../http/invalid-field.ts';

export const TEXT_MAX_LENGTH = 20_000;

export const expectation = z
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

/**
 * Completes an expectation with the name of the judging model, so that the case keeps its meaning. Throws
 * VALIDATION_ERROR, and SCHEMA_INVALID.
 */
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
