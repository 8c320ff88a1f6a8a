// A test case as a caller writes it.
import { z } from 'zod';
import { nameSchema, parsedJson } from '../flows/written-flow.ts';
import { toolFields } from '../runs/run-shapes/tool-fields.ts';

export const TEXT_MAX_LENGTH = 20_000;
const TOOL_RESULTS_MAX = 100;

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
          description: 'As provider/model; by default that of the service.',
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
      'What the answer must be. contains: it has this text. judge: it meets the criteria, as a model judges.',
  });

export const newTestCase = z.strictObject({
  flow_id: z.guid(),
  name: nameSchema.meta({ description: 'Unique in the flow: replaces the case of the same name.' }),
  message: z.string(),
  parameters: z.record(z.string(), parsedJson).optional(),
  tools: toolFields.tools.meta({ description: 'As callers send them.' }),
  tool_results: z
    .array(z.strictObject({ name: z.string(), result: parsedJson }))
    .max(TOOL_RESULTS_MAX)
    .optional()
    .meta({ description: 'A call takes the next result of its tool.' }),
  expectation,
});

export const testCaseRequest = newTestCase.omit({ flow_id: true }).meta({ id: 'SaveTestCase' });
